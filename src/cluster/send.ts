// Sends a message to a child process that may be ending. Its channel closes before its end is reported, and a write to
// a closed channel throws. In a timer, this would end the supervisor and all its processes.

/** Drops the message if the child is ending. The end of the child is reported separately. */
export const sendToChild = (child: Pick<Bun.Subprocess, 'send'>, message: unknown): void => {
  try {
    child.send(message)
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_IPC_CHANNEL_CLOSED') throw error
  }
}
