import type { IndexStatus } from './decision-index.ts'
import type { IndexReply } from './decision-index-protocol.ts'

export const send = (reply: IndexReply): void => void process.send?.(reply)

let told = ''
export const tellStatus = (status: IndexStatus): void => {
  const text = JSON.stringify(status)
  if (text !== told) send({ id: 0, ok: true, status })
  told = text
}
