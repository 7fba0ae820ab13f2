// Of several processes, only the leader sends messages.
import { expect, test } from 'bun:test'
import { until } from '../../support/until.ts'
import { openWebhookService, startReceiver } from './support.ts'

test('messages wait until the process leads', async () => {
  const { parts, webhooks, demo, stop } = await openWebhookService()
  const receiver = startReceiver()
  try {
    await parts.addEndpoint(demo, receiver.url)
    await parts.submit(demo)
    let leads = false
    let looks = 0
    webhooks.leaderTask.start({
      leads: () => {
        looks += 1
        return leads
      },
      holds: async () => true,
    })
    await until(() => looks > 1)
    expect(receiver.received).toEqual([])
    leads = true
    await until(() => receiver.received.length > 0)
  } finally {
    await stop()
    await receiver.stop()
  }
})
