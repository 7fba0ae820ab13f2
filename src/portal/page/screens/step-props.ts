// The properties of every step's screen.
import type { SessionView } from '../../contract.ts'
import type { SessionCalls } from '../api.ts'
import type { Step } from '../steps.ts'

export interface StepProps {
  readonly view: SessionView
  readonly calls: SessionCalls
  /** Takes the answer to a change. */
  readonly apply: (view: SessionView) => void
  readonly refresh: () => void
  readonly go: (step: Step) => void
  /**
   * Opens the next step, or an earlier one that is not done.
   * @param view the newest view, if this step just changed it
   */
  readonly next: (view?: SessionView) => void
  /** Null on the first step. */
  readonly back: (() => void) | null
  /** Says something to people who do not see the screen. */
  readonly announce: (text: string) => void
}
