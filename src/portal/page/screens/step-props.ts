import type { SessionView } from '../../contract.ts'
import type { SessionCalls } from '../api.ts'
import type { Step } from '../steps.ts'

export interface StepProps {
  readonly view: SessionView
  readonly calls: SessionCalls
  /** Applies the response to a change. */
  readonly apply: (view: SessionView) => void
  readonly refresh: () => void
  readonly go: (step: Step) => void
  /**
   * Opens the next step, or an earlier step that isn't done.
   * @param view newest view, if this step just changed it
   */
  readonly next: (view?: SessionView) => void
  /** Null on the first step. */
  readonly back: (() => void) | null
  /** Announces a text to screen readers. */
  readonly announce: (text: string) => void
}
