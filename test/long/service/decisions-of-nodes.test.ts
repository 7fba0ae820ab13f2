// Two nodes with one PostgreSQL that ship to one folder: either node finds the decisions of both and their proofs, and the
// shipped log is valid.
import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { checkDecisionProof } from '../../../src/client/decision-proof.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { openStore } from '../../../src/store/store.ts'
import { attestOnce, projectRequest } from '../../service/calls.ts'
import { runCountersign } from '../../service/run-to-end.ts'
import { freePort, type RunningService, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { createTemporaryDatabase, PATIENT_LIMITS, POSTGRES_MISSING } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const because = POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`

interface Found {
  readonly data: readonly { readonly uuid: string }[]
  readonly complete: boolean
}

test.skipIf(POSTGRES_MISSING !== null)(
  `a search on one node finds the decisions of the other${because}`,
  90_000,
  async () => {
    const folder = newFolder()
    const database = await createTemporaryDatabase('nothing')
    const nodes: RunningService[] = []
    const start = async (name: string): Promise<{ node: RunningService; dashboard: string }> => {
      const dashboard = `127.0.0.1:${freePort()}`
      const node = await startService({
        dataDirectory: join(folder, name),
        arguments: ['--workers', '1', '--decisions-ship-interval-seconds', '1'],
        environment: {
          COUNTERSIGN_STORE: database.address,
          COUNTERSIGN_DECISIONS_SHIP: `dir:${join(folder, 'shipped')}`,
          COUNTERSIGN_DASHBOARD_LISTEN: dashboard,
        },
      })
      nodes.push(node)
      return { node, dashboard: `http://${dashboard}` }
    }
    try {
      const first = await start('one')
      for (const name of ['secrets', 'keystores', 'quickstart.env']) {
        cpSync(join(folder, 'one', name), join(folder, 'two', name), { recursive: true })
      }
      const second = await start('two')
      const body = projectRequest(first.node)
      const uuids: string[] = []
      for (const { node } of [first, second, first]) uuids.push((await attestOnce(node, body)).attestation.uuid)

      const store = await openStore({ target: database.target, clock: systemClock, ...PATIENT_LIMITS })
      const [organization] = await store.organizations.list()
      const { text: key } = await store.apiKeys.issue({
        organizationId: organization?.id ?? '',
        kind: 'admin',
        environment: 'live',
        name: 'test',
        expiresAtSeconds: null,
        rateLimit: null,
      })
      await store.close()
      const find = async (dashboard: string, path: string): Promise<Response> =>
        fetch(`${dashboard}/admin/v1/organizations/${organization?.slug}/decisions${path}`, {
          headers: { authorization: `Bearer ${key}` },
        })

      for (const { dashboard } of [first, second]) {
        await until(async () => {
          const response = await find(dashboard, '')
          if (response.status === 503) return false
          expect(response.status).toBe(200)
          const { data, complete } = (await response.json()) as Found
          return complete && data.length === uuids.length
        })
        const { data } = (await (await find(dashboard, '')).json()) as Found
        expect(data.map(({ uuid }) => uuid)).toEqual([...uuids].reverse())
        for (const uuid of uuids) {
          const shown = (await (await find(dashboard, `/${uuid}`)).json()) as { proof: { previous_matches: boolean } }
          expect(shown.proof.previous_matches).toBe(true)
        }
      }
      const settings = { COUNTERSIGN_DATA_DIR: join(folder, 'one'), COUNTERSIGN_STORE: database.address }
      const { stdout: logKey } = await runCountersign(settings, 'proof', 'key')
      for (const [index, uuid] of uuids.entries()) {
        // The proof of a decision of the other node.
        const { url, quickstart } = index === 1 ? first.node : second.node
        let proof = ''
        await until(async () => {
          const response = await fetch(`${url}/v2/attestations/${uuid}/proof`, {
            headers: { 'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '' },
          })
          if (response.status === 200) proof = ((await response.json()) as { proof: string }).proof
          else expect([404, 503]).toContain(response.status)
          return proof !== ''
        })
        expect(checkDecisionProof(proof, logKey).decision).toMatchObject({ uuid })
      }
      for (const node of nodes.splice(0)) expect(await node.stop()).toBe(0)
      const shipped = `dir:${join(folder, 'shipped')}`
      const verified = await runCountersign(settings, 'decisions', 'verify', '--from', shipped)
      expect(verified).toMatchObject({ code: 0 })
      expect(verified.stdout).toContain('2 nodes: ok\n')
      expect(verified.stdout).toMatch(/tree: \d+ of \d+ lines compared.*: ok\n$/)
      const own = await runCountersign(settings, 'decisions', 'verify')
      expect([own.code, own.stdout]).toEqual([0, expect.stringMatching(/ elsewhere.*: ok\n$/)])
    } finally {
      for (const node of nodes) await node.stop()
      await database.remove()
    }
  },
)
