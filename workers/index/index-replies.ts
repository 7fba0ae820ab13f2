// Messages from the processes that build an index to the service.
import type { IndexStatus } from './decision-index.ts'
import type { IndexReply } from './decision-index-protocol.ts'

export const send = (reply: IndexReply): void => void process.send?.(reply)

let told = ''
/** Sends the state of the index if it has changed. */
export const tellStatus = (status: IndexStatus): void => {
  const text = JSON.stringify(status)
  if (text !== told) send({ id: 0, ok: true, status })
  told = text
}
