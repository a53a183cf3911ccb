; What the threads of a team run, in LLVM's language; region.py says what each function is for, and replaces the words in
; capitals. Addresses are whole numbers until they are used, and every field has 8 bytes.
;
; A region's fields: 0 kernel, 1 params, 2 workspaces, 3 stride, 4 most, 5 left, 6 state, 7 threads, 8 number.
; Its state: the number of the pool's threads that are in it or to which it was given, plus OPEN.
; A thread's slot: 0 it isn't waiting, 1 it is, 2 it is in a region; else the address of the region that it was given.

declare i32 @YIELD()
DECLARE_PAUSE

; One thread's part: one call of the kernel, with the workspace of this number.
define void @work(i64* %region, i64 %number) {
  %kernel_field = getelementptr i64, i64* %region, i64 0
  %params_field = getelementptr i64, i64* %region, i64 1
  %workspaces_field = getelementptr i64, i64* %region, i64 2
  %stride_field = getelementptr i64, i64* %region, i64 3
  %most_field = getelementptr i64, i64* %region, i64 4
  %left_field = getelementptr i64, i64* %region, i64 5
  %kernel_address = load i64, i64* %kernel_field
  %params = load i64, i64* %params_field
  %workspaces = load i64, i64* %workspaces_field
  %stride = load i64, i64* %stride_field
  %most = load i64, i64* %most_field
  %kernel = inttoptr i64 %kernel_address to KERNEL
  %offset = mul i64 %number, %stride
  %workspace = add i64 %workspaces, %offset
  %left = call i64 %kernel(i64 %params, i64 %workspace, i64 %most)
  %none = icmp eq i64 %left, 0
  br i1 %none, label %last, label %end
last:
  store atomic i64 0, i64* %left_field monotonic, align 8
  br label %end
end:
  ret void
}

; A thread of an OpenMP team, which may have more threads than are needed.
define void @member(i64* %region) {
  %threads_field = getelementptr i64, i64* %region, i64 7
  %number_field = getelementptr i64, i64* %region, i64 8
  %threads = load i64, i64* %threads_field
  %number_address = load i64, i64* %number_field
  %get_number = inttoptr i64 %number_address to NUMBER
  %short = call i32 %get_number()
  %number = zext i32 %short to i64
  %needed = icmp ult i64 %number, %threads
  br i1 %needed, label %do, label %end
do:
  call void @work(i64* %region, i64 %number)
  br label %end
end:
  ret void
}

; The caller of the pool.
define i64 @lead(i64* %region, i64 %slots, i64 %count) {
  %left_field = getelementptr i64, i64* %region, i64 5
  %state = getelementptr i64, i64* %region, i64 6
  %address = ptrtoint i64* %region to i64
  store atomic i64 1, i64* %left_field monotonic, align 8
  store atomic i64 OPEN, i64* %state seq_cst, align 8
  br label %give_next

; Give the region to the threads that wait. Counted before it is given: a thread may leave it at once.
give_next:
  %i = phi i64 [ 0, %0 ], [ %i_next, %give ], [ %i_next, %refused ]
  %i_next = add i64 %i, 1
  %more_to_give = icmp ult i64 %i, %count
  br i1 %more_to_give, label %give, label %own
give:
  %give_offset = mul i64 %i, SLOT
  %give_address = add i64 %slots, %give_offset
  %give_slot = inttoptr i64 %give_address to i64*
  %counted = atomicrmw add i64* %state, i64 1 seq_cst
  %giving = cmpxchg i64* %give_slot, i64 1, i64 %address seq_cst seq_cst
  %given = extractvalue { i64, i1 } %giving, 1
  br i1 %given, label %give_next, label %refused
refused:
  %uncounted = atomicrmw sub i64* %state, i64 1 seq_cst
  br label %give_next

own:
  call void @work(i64* %region, i64 0)
  %closed = atomicrmw sub i64* %state, i64 OPEN seq_cst
  br label %take_next

; Take it back from those that haven't begun: the system may not have let them run at all.
take_next:
  %j = phi i64 [ 0, %own ], [ %j_next, %take ], [ %j_next, %taken ]
  %j_next = add i64 %j, 1
  %more_to_take = icmp ult i64 %j, %count
  br i1 %more_to_take, label %take, label %wait
take:
  %take_offset = mul i64 %j, SLOT
  %take_address = add i64 %slots, %take_offset
  %take_slot = inttoptr i64 %take_address to i64*
  %taking = cmpxchg i64* %take_slot, i64 %address, i64 1 seq_cst seq_cst
  %unbegun = extractvalue { i64, i1 } %taking, 1
  br i1 %unbegun, label %taken, label %take_next
taken:
  %one_less = atomicrmw sub i64* %state, i64 1 seq_cst
  br label %take_next

; Wait for the others to leave: each ends the tasks that it has taken.
wait:
  %round = phi i64 [ 0, %take_next ], [ %round_next, %wait_on ]
  %round_next = add i64 %round, 1
  %inside = load atomic i64, i64* %state acquire, align 8
  %empty = icmp eq i64 %inside, 0
  br i1 %empty, label %end, label %wait_on
wait_on:
  call void @relax(i64 %round_next)
  br label %wait
end:
  %left = load atomic i64, i64* %left_field monotonic, align 8
  ret i64 %left
}

; A thread of the pool, woken up for the region %asked, or for none if that is 0. It enters that region itself, since it
; may have begun to wait too late to be given it. Its memory stays while this runs; another region's may be gone as soon
; as the thread has left it.
define void @serve(i64* %slot, i64* %asked, i64 %number, i64 %spins) {
  %asked_state = getelementptr i64, i64* %asked, i64 6
  %asked_address = ptrtoint i64* %asked to i64
  %none = icmp eq i64 %asked_address, 0
  br label %ready
ready:
  %done = phi i1 [ %none, %0 ], [ %done_now, %leave ], [ true, %too_late ], [ %done, %take ]
  store atomic i64 1, i64* %slot seq_cst, align 8
  br label %look

look:
  %round = phi i64 [ 0, %ready ], [ %round_next, %idle ]
  %seen = load atomic i64, i64* %slot acquire, align 8
  %nothing = icmp eq i64 %seen, 1
  br i1 %nothing, label %ask, label %take
ask:
  br i1 %done, label %idle, label %see
see:
  %asked_seen = load atomic i64, i64* %asked_state acquire, align 8
  %open = icmp uge i64 %asked_seen, OPEN
  br i1 %open, label %withdraw, label %idle
idle:
  %round_next = add i64 %round, 1
  call void @relax(i64 %round_next)
  %on = icmp ult i64 %round_next, %spins
  br i1 %on, label %look, label %stop
stop:
  %stopping = cmpxchg i64* %slot, i64 1, i64 0 seq_cst seq_cst
  %stopped = extractvalue { i64, i1 } %stopping, 1
  br i1 %stopped, label %end, label %take

; Given a region: begin, unless it was taken back.
take:
  %handed = load atomic i64, i64* %slot acquire, align 8
  %is_region = icmp ne i64 %handed, 1
  %beginning = cmpxchg i64* %slot, i64 %handed, i64 2 seq_cst seq_cst
  %same = extractvalue { i64, i1 } %beginning, 1
  %begun = and i1 %is_region, %same
  br i1 %begun, label %do, label %ready

; Enter the region asked for, unless it was closed meanwhile.
withdraw:
  %withdrawing = cmpxchg i64* %slot, i64 1, i64 2 seq_cst seq_cst
  %withdrawn = extractvalue { i64, i1 } %withdrawing, 1
  br i1 %withdrawn, label %enter, label %take
enter:
  %before = load atomic i64, i64* %asked_state acquire, align 8
  %still_open = icmp uge i64 %before, OPEN
  br i1 %still_open, label %count, label %too_late
count:
  %after = add i64 %before, 1
  %entering = cmpxchg i64* %asked_state, i64 %before, i64 %after seq_cst seq_cst
  %entered = extractvalue { i64, i1 } %entering, 1
  br i1 %entered, label %do, label %enter
too_late:
  br label %ready

do:
  %mine = phi i64 [ %handed, %take ], [ %asked_address, %count ]
  %region = inttoptr i64 %mine to i64*
  call void @work(i64* %region, i64 %number)
  br label %leave
leave:
  %state = getelementptr i64, i64* %region, i64 6
  %left = atomicrmw sub i64* %state, i64 1 seq_cst
  %was_asked = icmp eq i64 %mine, %asked_address
  %done_now = or i1 %done, %was_asked
  br label %ready
end:
  ret void
}

; A round of waiting; now and then it lets another thread have the processor.
define void @relax(i64 %round) {
  PAUSE
  %low = and i64 %round, 63
  %often = icmp eq i64 %low, 0
  br i1 %often, label %yield, label %end
yield:
  %ignored = call i32 @YIELD()
  br label %end
end:
  ret void
}

; Called by dl_iterate_phdr for the first library: copies dlpi_adds and dlpi_subs, and asks for no other library.
define i32 @look(i64* %info, i64 %size, i64* %counts) {
  %adds_field = getelementptr i64, i64* %info, i64 4
  %subs_field = getelementptr i64, i64* %info, i64 5
  %subs_place = getelementptr i64, i64* %counts, i64 1
  %adds = load i64, i64* %adds_field
  %subs = load i64, i64* %subs_field
  store i64 %adds, i64* %counts
  store i64 %subs, i64* %subs_place
  ret i32 1
}

; A small call, on this thread (small_plan.py). A plan's fields: 0 kernel, 1 the params to copy, 2 their number of words,
; 3 to 8 the places of q, k, v, m, l and the output among these words, 9 and 10 what is taken off k and v, 11 to 13 where m,
; l and the kernel's workspace begin after %memory, where the params go, 14 the most tasks, 15 the place of the result.
; Changes: their number, then for each a place and a word.
define i64 @small(i64* %plan, i64* %changes, i64 %q, i64 %k, i64 %v, i64 %output, i64 %memory) {
begin:
  %params = inttoptr i64 %memory to i64*
  %field_0 = getelementptr i64, i64* %plan, i64 0
  %kernel_address = load i64, i64* %field_0
  %field_1 = getelementptr i64, i64* %plan, i64 1
  %source_address = load i64, i64* %field_1
  %source = inttoptr i64 %source_address to i64*
  %field_2 = getelementptr i64, i64* %plan, i64 2
  %words = load i64, i64* %field_2
  br label %copy
copy:
  %i = phi i64 [ 0, %begin ], [ %i_next, %copy ]
  %from = getelementptr i64, i64* %source, i64 %i
  %to = getelementptr i64, i64* %params, i64 %i
  %word = load i64, i64* %from
  store i64 %word, i64* %to
  %i_next = add i64 %i, 1
  %copied = icmp eq i64 %i_next, %words
  br i1 %copied, label %look, label %copy
look:
  %count = load i64, i64* %changes
  br label %next
next:
  %j = phi i64 [ 0, %look ], [ %j_next, %change ]
  %changed = icmp eq i64 %j, %count
  br i1 %changed, label %fill, label %change
change:
  %twice = shl i64 %j, 1
  %place_at = add i64 %twice, 1
  %value_at = add i64 %twice, 2
  %place_field = getelementptr i64, i64* %changes, i64 %place_at
  %value_field = getelementptr i64, i64* %changes, i64 %value_at
  %place = load i64, i64* %place_field
  %value = load i64, i64* %value_field
  %changed_field = getelementptr i64, i64* %params, i64 %place
  store i64 %value, i64* %changed_field
  %j_next = add i64 %j, 1
  br label %next
fill:
  %field_9 = getelementptr i64, i64* %plan, i64 9
  %k_shift = load i64, i64* %field_9
  %k_first = sub i64 %k, %k_shift
  %field_10 = getelementptr i64, i64* %plan, i64 10
  %v_shift = load i64, i64* %field_10
  %v_first = sub i64 %v, %v_shift
  %field_11 = getelementptr i64, i64* %plan, i64 11
  %m_offset = load i64, i64* %field_11
  %m = add i64 %memory, %m_offset
  %field_12 = getelementptr i64, i64* %plan, i64 12
  %l_offset = load i64, i64* %field_12
  %l = add i64 %memory, %l_offset
  call void @fill(i64* %plan, i64 3, i64* %params, i64 %q)
  call void @fill(i64* %plan, i64 4, i64* %params, i64 %k_first)
  call void @fill(i64* %plan, i64 5, i64* %params, i64 %v_first)
  call void @fill(i64* %plan, i64 6, i64* %params, i64 %m)
  call void @fill(i64* %plan, i64 7, i64* %params, i64 %l)
  call void @fill(i64* %plan, i64 8, i64* %params, i64 %output)
  %field_13 = getelementptr i64, i64* %plan, i64 13
  %workspace_offset = load i64, i64* %field_13
  %workspace = add i64 %memory, %workspace_offset
  %field_14 = getelementptr i64, i64* %plan, i64 14
  %most = load i64, i64* %field_14
  %kernel = inttoptr i64 %kernel_address to KERNEL
  %left = call i64 %kernel(i64 %memory, i64 %workspace, i64 %most)
  %field_15 = getelementptr i64, i64* %plan, i64 15
  %result_place = load i64, i64* %field_15
  %result_field = getelementptr i64, i64* %params, i64 %result_place
  %result = load i64, i64* %result_field
  ret i64 %result
}

; Sets the word at the place that a plan's field says.
define void @fill(i64* %plan, i64 %field, i64* %params, i64 %value) {
  %at = getelementptr i64, i64* %plan, i64 %field
  %place = load i64, i64* %at
  %to = getelementptr i64, i64* %params, i64 %place
  store i64 %value, i64* %to
  ret void
}
