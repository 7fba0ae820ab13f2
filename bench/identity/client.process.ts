// The process that acts as the callers of the identity API. It executes orders received over IPC, one at a time, and
// ends with its parent.
import { createFollowedSessions, type FollowedSessions } from './followed-changes.ts'
import type { ClientOrder, ClientReply } from './plan.ts'
import { runRequestLoad } from './request-load.ts'

let followed: FollowedSessions | null = null

const perform = async (order: ClientOrder): Promise<ClientReply> => {
  if (order.type === 'requests') return runRequestLoad(order)
  if (order.type === 'change') {
    if (followed === null) throw new Error('nothing is followed')
    return followed.change(order)
  }
  if (order.type === 'follow') {
    followed ??= createFollowedSessions(order)
    return { type: 'followed', sessions: await followed.follow(order) }
  }
  followed?.close()
  followed = null
  return { type: 'done' }
}

const reply = (message: ClientReply): void => {
  process.send?.(message)
}

process.on('message', (order: ClientOrder) => {
  perform(order).then(reply, (cause: unknown) => {
    reply({ type: 'failed', reason: cause instanceof Error ? cause.message : String(cause) })
  })
})
process.on('disconnect', () => process.exit(0))
reply({ type: 'ready' })
