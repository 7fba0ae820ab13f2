// An outside decider's answer that arrives while an operator sends the session back.
import { expect, test } from 'bun:test'
import { newUuid } from '../../../src/domain/identifier.ts'
import { signWebhook } from '../../../src/server/webhook-signature.ts'
import { describeStores } from '../../store/dialects.ts'
import { interleave } from '../../store/interleave.ts'
import { openWebhookService } from './support.ts'

describeStores((openTemporaryStore) => {
  test('decides nothing, and may be sent again', async () => {
    const service = await openWebhookService(openTemporaryStore)
    const { parts, webhooks, demo, reported } = service
    try {
      const decider = await parts.addEndpoint(demo, 'http://127.0.0.1:9/hook', { purpose: 'decisions' })
      const { id: sessionId } = await parts.submit(demo, 'webhook')
      const body = JSON.stringify({
        type: 'session.decided',
        timestamp: '2026-01-01T00:00:00Z',
        data: { sessionId, status: 'completed' },
      })
      const id = newUuid()
      const send = async (): Promise<number> => {
        const headers = signWebhook([decider.secret], { id, timestampSeconds: parts.clock.unixSeconds(), body })
        const url = `http://127.0.0.1/api/v1/provider/${decider.id}/sessions/${sessionId}/result`
        const request = new Request(url, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json', ...headers },
        })
        return (await webhooks.endpoints.providerResult(request)).status
      }
      const [, late] = await interleave(
        parts.store,
        ({ sessions }) =>
          sessions.changeStatus({ organizationId: demo, sessionId, to: 'retry', actor: 'operator:test' }),
        send,
      )
      expect(late).toEqual({ status: 'fulfilled', value: 409 })
      expect((await parts.store.sessions.find(demo, sessionId))?.session.status).toBe('retry')
      await parts.move(demo, sessionId, 'submitted')
      expect(await send()).not.toBe(409)
      expect(reported).toEqual([])
    } finally {
      await service.stop()
    }
  })
})
