// Waiting for what another process does: asked again and again, since nothing here is told of it.

const POLL_MS = 50

/** Until it holds; the test's own time limit ends it. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await Bun.sleep(POLL_MS)
}
