// What tsc doesn't find in the page's modules: likely mistakes, and a few habits that this code keeps.
import js from "@eslint/js";

export default [
  js.configs.recommended,
  {
    files: ["src/eyeline/views/page/**/*.js"],
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off", // tsc knows the browser's names
      "no-unused-vars": "off", // and says so of its own
      "no-control-regex": "off", // a text may hold anything
      "array-callback-return": "error",
      "eqeqeq": "error",
      "no-constructor-return": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-wrappers": "error",
      "no-promise-executor-return": ["error", { allowVoid: true }],
      "no-self-compare": "error",
      "no-shadow": "error",
      "no-template-curly-in-string": "error",
      "no-unreachable-loop": "error",
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "radix": "error",
    },
  },
];
