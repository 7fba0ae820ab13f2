// Waiting for what another process does: asked again and again, since nothing here is told of it.

const POLL_MS = 20
/** Below the 30 s of the runner, which would say nothing but that the test took too long. */
const LIMIT_MS = 25_000

export interface UntilOptions {
  /** What is waited for, for the message; the condition's own text unless stated. */
  readonly what?: string
  /** For a test with a longer limit of its own. */
  readonly limitMs?: number
}

/** Waits until it holds. @throws Error that names what did not come */
export const until = async (
  holds: () => boolean | Promise<boolean>,
  { what = String(holds), limitMs = LIMIT_MS }: UntilOptions = {},
): Promise<void> => {
  const giveUpMs = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > giveUpMs) throw new Error(`waited ${limitMs / 1_000} s in vain for: ${what}`)
    await Bun.sleep(POLL_MS)
  }
}

/** Waits until the clock shows another second: who approves a change was an administrator before the second of the request. */
export const nextSecond = (): Promise<void> => {
  const second = () => Math.floor(Date.now() / 1_000)
  const now = second()
  return until(() => second() > now)
}
