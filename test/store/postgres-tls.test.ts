// Connections to PostgreSQL over the network: the server is verified, and only the request for TLS is sent in
// plaintext. A relay in front of a real server records the bytes that the client sends.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, copyFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { SQL } from 'bun'
import { systemClock } from '../../src/lib/time.ts'
import type { Database } from '../../src/store/database.ts'
import { StoreUnusableError } from '../../src/store/errors.ts'
import { openPostgresDatabase } from '../../src/store/postgres/postgres.ts'
import { watchPostgresChanges } from '../../src/store/postgres/postgres-listener.ts'
import { CHANGES_CHANNEL } from '../../src/store/postgres/postgres-words.ts'
import { type CertificateFiles, createCertificateFolder, OPENSSL_MISSING } from '../support/certificates.ts'
import { POSTGRES_MISSING, targetOf } from '../support/postgres.ts'
import { POSTGRES_PASSWORD, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'

const MISSING = POSTGRES_MISSING ?? OPENSSL_MISSING
const describeTls = MISSING === null ? describe : describe.skip

/** Int32 length 8, Int32 80877103: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const SSL_REQUEST = '0000000804d2162f'

interface Recorder {
  readonly port: number
  /** Bytes that each connection sent, hexadecimal. */
  readonly sent: string[]
  stop(): void
}

const startRecorder = async (port: number): Promise<Recorder> => {
  const sent: string[] = []
  const server: Server = createServer((client) => {
    const place = sent.push('') - 1
    const upstream = connect(port, '127.0.0.1')
    client.on('data', (bytes: Buffer) => {
      sent[place] += bytes.toString('hex')
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => client.write(bytes))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.destroy())
      // A reset counts as a close.
      one.on('error', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the relay has no port')
  return { port: address.port, sent, stop: () => server.close() }
}

describeTls(`PostgreSQL over TLS${MISSING === null ? '' : ` (skipped: ${MISSING})`}`, () => {
  const certificates = createCertificateFolder()
  let server: PostgresServer
  let dataFolder: string
  let recorder: Recorder
  const opened: Database[] = []

  /** The target of an address on another machine, redirected to this one. */
  const targetFor = (options: string, host: string) => ({
    ...targetOf(`postgres://countersign:${POSTGRES_PASSWORD}@db.example/postgres${options}`),
    host,
    port: recorder.port,
  })
  const open = async (options: string, host = 'localhost'): Promise<Database> => {
    const database = await openPostgresDatabase({
      target: targetFor(options, host),
      clock: systemClock,
      connectLimitMs: 20_000,
      lockLimitMs: 20_000,
    })
    opened.push(database)
    return database
  }
  const refusal = async (options: string, host?: string): Promise<string> => {
    const error: unknown = await open(options, host).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreUnusableError)
    return (error as StoreUnusableError).detail
  }

  const useCertificate = async ({ certificate, key }: CertificateFiles): Promise<void> => {
    const { uid, gid } = statSync(dataFolder)
    for (const [from, name] of [
      [certificate, 'server.crt'],
      [key, 'server.key'],
    ] as const) {
      const path = join(dataFolder, name)
      copyFileSync(from, path)
      chownSync(path, uid, gid)
      chmodSync(path, 0o600)
    }
    await server.administer('ALTER SYSTEM SET ssl = on')
    await server.restart()
  }

  let authority: CertificateFiles
  let otherAuthority: CertificateFiles

  beforeAll(async () => {
    server = await startPostgres()
    recorder = await startRecorder(server.port)
    authority = certificates.authority('authority')
    otherAuthority = certificates.authority('other-authority')
    const client = new SQL(server.address('postgres'), { max: 1 })
    const [row]: { data_directory: string }[] = await client`SHOW data_directory`
    await client.close({ timeout: 0 })
    dataFolder = row?.data_directory ?? ''
  })
  afterAll(async () => {
    for (const database of opened) await database.close()
    recorder?.stop()
    await server?.stop()
    certificates.remove()
  })

  test('a server without TLS is refused after the request for TLS, before any other data is sent', async () => {
    recorder.sent.length = 0
    for (const options of ['', '?sslmode=verify-full', '?sslmode=verify-ca', '?sslmode=require']) {
      expect(await refusal(options)).toContain('does not support TLS')
    }
    expect(recorder.sent).toEqual(Array.from({ length: recorder.sent.length }, () => SSL_REQUEST))
    expect(recorder.sent.length).toBeGreaterThanOrEqual(4)
  })

  test('the listener sends only the request for TLS', async () => {
    recorder.sent.length = 0
    const watch = watchPostgresChanges(targetFor('', 'localhost'), 20_000, () => undefined)
    // The second attempt also counts.
    await until(() => recorder.sent.filter((sent) => sent !== '').length >= 2)
    expect(watch.listening()).toBe(false)
    await watch.stop()
    expect(new Set(recorder.sent.filter((sent) => sent !== ''))).toEqual(new Set([SSL_REQUEST]))
  })

  test('only sslmode=disable allows plaintext', async () => {
    recorder.sent.length = 0
    const database = await open('?sslmode=disable')
    expect(await database.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')).toEqual([{ ssl: false }])
    expect(recorder.sent[0]).toContain(Buffer.from('countersign').toString('hex'))
  })

  describe('with a certificate', () => {
    beforeAll(() => useCertificate(certificates.server(authority, 'right', 'DNS:localhost')))

    test('for its name by the given authority, queries, transactions and the listener are encrypted', async () => {
      recorder.sent.length = 0
      const options = `?sslrootcert=${authority.certificate}`
      const database = await open(options)
      const ssl = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
      expect(await database.query(ssl)).toEqual([{ ssl: true }])
      expect(await database.transaction((transaction) => transaction.query(ssl))).toEqual([{ ssl: true }])
      let notifications = 0
      const watch = watchPostgresChanges(targetFor(options, 'localhost'), 20_000, () => notifications++)
      await until(() => watch.listening())
      const before = notifications
      await server.administer(`NOTIFY ${CHANGES_CHANNEL}`)
      await until(() => notifications > before)
      await watch.stop()
      for (const sent of recorder.sent) expect(sent.startsWith(SSL_REQUEST)).toBe(true)
      const all = Buffer.from(recorder.sent.join(''), 'hex').toString('latin1')
      for (const word of ['countersign', 'pg_stat_ssl', CHANGES_CHANNEL]) expect(all).not.toContain(word)
    })

    test('by another authority, or without a given authority, the server is refused', async () => {
      expect(await refusal(`?sslrootcert=${otherAuthority.certificate}`)).toContain('certificate')
      expect(await refusal('')).toContain('certificate')
      expect(await refusal(`?sslmode=verify-ca&sslrootcert=${otherAuthority.certificate}`)).toContain('certificate')
    })

    test('for another name, the server is refused, except with verify-ca', async () => {
      expect(await refusal(`?sslrootcert=${authority.certificate}`, '127.0.0.1')).toContain('certificate')
      await open(`?sslmode=verify-ca&sslrootcert=${authority.certificate}`, '127.0.0.1')
    })

    test('that cannot be verified, sslmode=require connects', async () => {
      const database = await open('?sslmode=require')
      expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
    })

    test('a missing file of authorities is reported', async () => {
      expect(await refusal('?sslrootcert=/nowhere/authority.pem')).toContain('sslrootcert')
    })

    test('no environment variable disables the verification', async () => {
      const script = join(certificates.path, 'connect.ts')
      const source = join(import.meta.dir, '..', '..', 'src')
      writeFileSync(
        script,
        `import { openPostgresDatabase } from '${source}/store/postgres/postgres.ts'
import { systemClock } from '${source}/lib/time.ts'
const target = JSON.parse(process.argv[2] ?? '')
const database = await openPostgresDatabase({ target, clock: systemClock, connectLimitMs: 20_000 })
await database.close()
`,
      )
      const run = async (options: string): Promise<string> => {
        const child = Bun.spawn([process.execPath, script, JSON.stringify(targetFor(options, 'localhost'))], {
          env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
          stdout: 'ignore',
          stderr: 'pipe',
        })
        const stderr = await new Response(child.stderr).text()
        return `${await child.exited} ${stderr}`
      }
      expect(await run('')).toContain('does not satisfy sslmode and sslrootcert')
      expect(await run(`?sslrootcert=${authority.certificate}`)).toStartWith('0 ')
    })
  })
})
