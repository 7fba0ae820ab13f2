// A change that a second person has to approve is answered with what now waits for them, in place of the usual answer.
import type { Approval } from '../api/types.ts'
import { readWaitingAgain } from '../shell/waiting.ts'
import { say } from '../ui/toast.tsx'

export const isApproval = (answer: object): answer is Approval => 'requested_by' in answer

/** Says what became of a change: done, or waiting. */
export const sayOutcome = (answer: object, done: string): void => {
  say(isApproval(answer) ? 'A second person has to approve this' : done)
  if (isApproval(answer)) readWaitingAgain()
}
