// Says something to a child process that may be ending. Its channel closes a moment before its end is heard of, and a
// write to a closed channel throws: in a timer, such as a ping's, that would end this process, and all that it supervises.

/** What a child that is ending would have heard is dropped: whoever waits for its answer hears of its end. */
export const sendToChild = (child: Pick<Bun.Subprocess, 'send'>, message: unknown): void => {
  try {
    child.send(message)
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_IPC_CHANNEL_CLOSED') throw error
  }
}
