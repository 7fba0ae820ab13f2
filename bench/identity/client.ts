// Starts the process of the identity client, sends orders and receives reports.
import { startOrderProcess } from '../order-process.ts'
import type { Processes } from '../processes.ts'
import type {
  ChangeOrder,
  ChangeReport,
  ClientOrder,
  ClientReply,
  FollowOrder,
  RequestLoad,
  RequestReport,
} from './plan.ts'

export interface IdentityClient {
  /** Executes one order at a time. @throws Error with the client's reason */
  requests(load: Omit<RequestLoad, 'type'>): Promise<RequestReport>
  /** Returns the number of followed sessions. */
  follow(order: Omit<FollowOrder, 'type'>): Promise<number>
  change(order: Omit<ChangeOrder, 'type'>): Promise<ChangeReport>
  close(): Promise<void>
}

export const startIdentityClient = async (processes: Processes): Promise<IdentityClient> => {
  const send = await startOrderProcess<ClientOrder, ClientReply>(processes, {
    name: 'identity client',
    command: [process.execPath, new URL('./client.process.ts', import.meta.url).pathname],
  })
  const ask = async <Type extends ClientReply['type']>(
    order: ClientOrder,
    wanted: Type,
  ): Promise<Extract<ClientReply, { readonly type: Type }>> => {
    const reply = await send(order)
    if (reply.type === wanted) return reply as Extract<ClientReply, { readonly type: Type }>
    throw new Error('the identity client restarted')
  }
  return {
    requests: (load) => ask({ type: 'requests', ...load }, 'requests'),
    follow: async (order) => (await ask({ type: 'follow', ...order }, 'followed')).sessions,
    change: (order) => ask({ type: 'change', ...order }, 'change'),
    close: async () => void (await ask({ type: 'close' }, 'done')),
  }
}
