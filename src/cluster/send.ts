// Sends a message to a child process that may be ending. Its channel closes a moment before its end is reported, and a
// write to a closed channel throws. In a timer, such as a ping's, that would end this process and all processes that it
// supervises.

/** Drops the message when the child is ending: a caller that waits for an answer learns that the child has ended. */
export const sendToChild = (child: Pick<Bun.Subprocess, 'send'>, message: unknown): void => {
  try {
    child.send(message)
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_IPC_CHANNEL_CLOSED') throw error
  }
}
