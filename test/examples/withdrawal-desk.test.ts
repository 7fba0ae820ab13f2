// docs/examples/withdrawal_desk.py with the running service and docs/examples/withdrawals.yaml: each order is decided
// and paid once, a denial is kept, and nothing is paid without a response.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { cleanEnvironment } from '../service/run-to-end.ts'
import { type RunningService, runCommand, startService } from '../service/start-service.ts'
import { environmentOf, firstLineOf } from './support.ts'

const ROOT = join(import.meta.dir, '..', '..')
const WALLET = '0x00000000000000000000000000000000000000b2'
const python = ['python3.13', 'python3.12', 'python3.11', 'python3'].find((name) => {
  if (Bun.which(name) === null) return false
  return Bun.spawnSync([name, '-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).exitCode === 0
})

describe.skipIf(python === undefined)(
  `docs/examples/withdrawal_desk.py${python === undefined ? ' (no Python 3.11 here)' : ''}`,
  () => {
    let service: RunningService
    let desk: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
    let url: string
    let booksFile: string

    beforeAll(async () => {
      service = await startService()
      const { POLICY_ID = '', VERIFICATION_HASH = '' } = service.quickstart
      const words = ['policy', 'apply', 'docs/examples/withdrawals.yaml', '--policy', POLICY_ID]
      const applied = await runCommand(service.dataDirectory, ...words)
      expect([applied.code, applied.stderr]).toEqual([0, ''])
      // A changed policy takes effect within a second.
      for (let name = ''; name !== 'Withdrawals'; ) {
        const probe = { from: WALLET, chain: 'base', verification_hash: VERIFICATION_HASH, msg_value: '1' }
        name = ((await (await service.attest(probe)).json()) as { policy_name: string }).policy_name
      }
      booksFile = join(service.dataDirectory, 'withdrawals.db')
      desk = Bun.spawn([python!, 'docs/examples/withdrawal_desk.py'], {
        cwd: ROOT,
        env: {
          ...cleanEnvironment(),
          ...environmentOf(service),
          PYTHONPATH: join(ROOT, 'clients', 'python'),
          PYTHONDONTWRITEBYTECODE: '1',
          BOOKS: booksFile,
          PORT: '0',
        },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      url = (await firstLineOf(desk)).replace('PUT ', '').replace('ORDER', '')
    }, 60_000)
    afterAll(async () => {
      desk?.kill()
      await Promise.all([desk?.exited, service?.stop()])
    })

    const order = async (id: string, body: string | object) => {
      const content = typeof body === 'string' ? body : JSON.stringify(body)
      const response = await fetch(`${url}${id}`, { method: 'PUT', body: content })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const books = () => {
      const file = new Database(booksFile, { readonly: true })
      try {
        return file.query('SELECT order_id, uuid, signature FROM withdrawals ORDER BY order_id').all() as {
          order_id: string
          uuid: string | null
          signature: string | null
        }[]
      } finally {
        file.close()
      }
    }

    test('pays each order once, even if it is submitted twice at once', async () => {
      const body = { chain: 'base', to: WALLET, wei: '5' }
      const [one, other] = await Promise.all([order('order-1', body), order('order-1', body)])
      expect(one).toEqual({ status: 200, body: { paid: true, uuid: expect.stringMatching(/^[0-9a-f-]{36}$/) } })
      expect(other).toEqual(one)
      expect((await order('order-1', { ...body, wei: '6' })).status).toBe(409)
      expect(books()).toEqual([
        { order_id: 'order-1', uuid: String(one.body['uuid']), signature: expect.stringMatching(/^0x[0-9a-f]{130}$/) },
      ])
    })

    test('keeps the reason of a denial, and pays nothing', async () => {
      const denied = await order('order-2', { chain: 'ethereum', to: WALLET, wei: '10000000000000000001' })
      const body = { paid: false, code: 'TOO_LARGE', reason: 'At most 10 ether at a time.' }
      expect(denied).toEqual({ status: 200, body })
      expect(books()[1]).toEqual({ order_id: 'order-2', uuid: null, signature: null })
    })

    test.each([
      ['no JSON', 'order-3', '{', 400],
      ['an array', 'order-3', '[]', 400],
      ['a negative amount', 'order-3', { wei: '-1' }, 400],
      ['no address', 'order-3', { chain: 'base', to: 'nobody', wei: '5' }, 400],
      ['a long text', 'order-3', 'x'.repeat(2_000), 400],
      ['another path', 'a/b', {}, 404],
    ])('rejects a body that isn’t an order: %s', async (_, id, body, status) => {
      expect((await order(id, body)).status).toBe(status)
      expect(books()).toHaveLength(2)
    })

    test('pays nothing while the service is unavailable', async () => {
      // This test is the last, because it stops the service.
      await service.stop()
      const answer = { status: 503, body: { error: 'try again later' } }
      expect(await order('order-4', { chain: 'base', to: WALLET, wei: '5' })).toEqual(answer)
    }, 90_000)
  },
)
