// Waits for events in other processes by polling.

const POLL_MS = 20
/** Below the runner's limit of 30 s, whose message would not name the condition. */
const LIMIT_MS = 25_000

export interface UntilOptions {
  /** Name of the condition in the error; defaults to its source text. */
  readonly what?: string
  /** For tests with a longer limit. */
  readonly limitMs?: number
}

/** Waits until the condition is true. @throws Error that names the condition */
export const until = async (
  holds: () => boolean | Promise<boolean>,
  { what = String(holds), limitMs = LIMIT_MS }: UntilOptions = {},
): Promise<void> => {
  const giveUpMs = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > giveUpMs) throw new Error(`still waiting after ${limitMs / 1_000} s for: ${what}`)
    await Bun.sleep(POLL_MS)
  }
}

/**
 * Waits for the next second of the clock: an approver must have been an administrator before the second of the request.
 */
export const nextSecond = (): Promise<void> => {
  const second = () => Math.floor(Date.now() / 1_000)
  const now = second()
  return until(() => second() > now)
}
