// A write to the closed channel of an ending process throws, and would end the supervisor in a timer.

/** Drops the message if the child is ending. */
export const sendToChild = (child: Pick<Bun.Subprocess, 'send'>, message: unknown): void => {
  try {
    child.send(message)
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_IPC_CHANNEL_CLOSED') throw error
  }
}
