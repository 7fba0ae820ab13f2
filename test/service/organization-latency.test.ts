// How long an organization waited for its verdicts, counted by several processes and read after they ended.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './start-service.ts'

const REQUESTS = 40

test.skipIf(process.platform !== 'linux')(
  'of several processes is added up, and outlives them (needs Linux)',
  async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-latency-'))
    try {
      const environment = { COUNTERSIGN_PROCESSES: '2' }
      const first = await startService({ dataDirectory, environment })
      await first.logLine(({ message }) => message === 'all processes are ready')
      const { VERIFICATION_HASH: hash, ATTESTATION_API_KEY: key = '' } = first.quickstart
      const body = { verification_hash: hash, from: `0x${'1'.repeat(40)}`, chain: 'base' }
      const statuses = await Promise.all(
        Array.from({ length: REQUESTS }, async () => {
          // A connection of its own, so that both processes get some.
          const response = await first.attest(body, { 'x-api-key': key, connection: 'close' })
          return response.status
        }),
      )
      expect(statuses.filter((status) => status === 200)).toHaveLength(REQUESTS)
      expect(await first.stop()).toBe(0)

      const file = new Database(join(dataDirectory, 'countersign.db'), { readonly: true })
      const rows = file.query<{ counts: string }, []>('SELECT counts FROM answer_latencies').all()
      file.close()
      const counted = rows.flatMap(({ counts }) => counts.split(' ').map((part) => Number(part.split(':')[1])))
      expect(counted.reduce((sum, count) => sum + count, 0)).toBe(REQUESTS)

      const again = await startService({ dataDirectory, environment: { COUNTERSIGN_PROCESSES: '1' } })
      const iso = (atMs: number): string => new Date(atMs).toISOString()
      const now = Date.now()
      const response = await fetch(
        `${again.quickstart['DASHBOARD_URL']}/admin/v1/organizations/demo/numbers?days=${iso(now - 3_600_000)}/${iso(now)}&hours_since=${iso(now - 86_400_000)}`,
        { headers: { authorization: `Bearer ${again.quickstart['ADMIN_API_KEY']}` } },
      )
      const numbers = (await response.json()) as { days: { latency_ms: { p50: number; p95: number } | null }[] }
      const { p50, p95 } = numbers.days[0]?.latency_ms ?? { p50: 0, p95: 0 }
      expect(p50).toBeGreaterThan(0)
      expect(p95).toBeGreaterThanOrEqual(p50)
      await again.stop()
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true })
    }
  },
  60_000,
)
