// The page's language.

/** The language of the page for a reader with this one. @type {(language: string) => Language} */
export const ownLanguage = (language) => (language.toLowerCase().startsWith("vi") ? "vi" : "en");
