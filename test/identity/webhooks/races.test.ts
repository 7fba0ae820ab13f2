// A result of the external decider that arrives simultaneously with a change by an operator.
import { expect, test } from 'bun:test'
import { newUuid } from '../../../src/domain/identifier.ts'
import { signWebhook } from '../../../src/server/webhook-signature.ts'
import { ConstraintViolatedError } from '../../../src/store/errors.ts'
import { describeStores } from '../../store/dialects.ts'
import { interleave } from '../../store/interleave.ts'
import { openWebhookService } from './support.ts'

describeStores((openTemporaryStore, dialect) => {
  test('a result during a retry by an operator is refused, and can be sent for the next submission', async () => {
    const service = await openWebhookService(openTemporaryStore)
    const { parts, webhooks, demo, reported } = service
    try {
      const decider = await parts.addEndpoint(demo, 'http://127.0.0.1:9/hook', { purpose: 'decisions' })
      const { id: sessionId, sequence } = await parts.submit(demo, 'webhook')
      const id = newUuid()
      const send = async (seen: number): Promise<number> => {
        const body = JSON.stringify({
          type: 'session.decided',
          timestamp: '2026-01-01T00:00:00Z',
          data: { sessionId, status: 'completed', sequence: seen },
        })
        const headers = signWebhook([decider.secret], { id, timestampSeconds: parts.clock.unixSeconds(), body })
        const url = `http://127.0.0.1/api/v1/provider/${decider.id}/sessions/${sessionId}/result`
        const request = new Request(url, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json', ...headers },
        })
        return (await webhooks.endpoints.providerResult(request, null)).status
      }
      const [, late] = await interleave(
        parts.store,
        ({ sessions }) =>
          sessions.changeStatus({ organizationId: demo, sessionId, to: 'retry', actor: 'operator:test' }),
        () => send(sequence),
      )
      expect(late).toEqual({ status: 'fulfilled', value: 409 })
      expect((await parts.store.sessions.find(demo, sessionId))?.session.status).toBe('retry')
      const again = await parts.move(demo, sessionId, 'submitted')
      expect([await send(sequence), await send(again.session.sequence)]).toEqual([409, 200])
      expect(reported).toEqual([])
    } finally {
      await service.stop()
    }
  })

  // On SQLite, writes take turns.
  if (dialect === 'SQLite') return
  test('a result does not block the refusal of a second decider endpoint', async () => {
    const service = await openWebhookService(openTemporaryStore)
    const { parts, demo } = service
    try {
      const { store } = parts
      const { id: endpointId } = await parts.addEndpoint(demo, 'http://127.0.0.1:9/hook', { purpose: 'decisions' })
      const { id: sessionId } = await parts.submit(demo, 'webhook')
      const [spent, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const message = store.transaction(async ({ providerResults }) => {
        await providerResults.spend({ organizationId: demo, endpointId, messageId: 'msg_1', sessionId })
        spent.resolve()
        await commit.promise
      })
      await spent.promise
      const second = parts.addEndpoint(demo, 'http://127.0.0.1:9/other', { purpose: 'decisions' })
      await expect(second).rejects.toBeInstanceOf(ConstraintViolatedError)
      commit.resolve()
      await message
    } finally {
      await service.stop()
    }
  })
})
