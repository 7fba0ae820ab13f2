// Latencies per organization, from several processes.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { newFolder } from '../support/folder.ts'
import { startService } from './start-service.ts'

const REQUESTS = 40

test.skipIf(process.platform !== 'linux')(
  'latencies are aggregated across processes (Linux only)',
  60_000,
  async () => {
    const dataDirectory = newFolder()
    const environment = { COUNTERSIGN_PROCESSES: '2' }
    const service = await startService({ dataDirectory, environment })
    await service.logLine(({ message }) => message === 'all processes are ready')
    const { VERIFICATION_HASH: hash, ATTESTATION_API_KEY: key = '' } = service.quickstart
    const body = { verification_hash: hash, from: `0x${'1'.repeat(40)}`, chain: 'base' }
    const statuses = await Promise.all(
      Array.from({ length: REQUESTS }, async () => {
        // A new connection, so that both processes get requests.
        const response = await service.attest(body, { 'x-api-key': key, connection: 'close' })
        return response.status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(REQUESTS)
    expect(await service.stop()).toBe(0)

    const file = new Database(join(dataDirectory, 'countersign.db'), { readonly: true })
    const rows = file.query<{ counts: string }, []>('SELECT counts FROM answer_latencies').all()
    file.close()
    const counted = rows.flatMap(({ counts }) => counts.split(' ').map((part) => Number(part.split(':')[1])))
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(REQUESTS)
  },
)
