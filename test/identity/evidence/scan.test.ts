// The document scanner: a real clamd with one signature, for the EICAR test string, and faulty sockets.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createEvidenceParts } from '../../../src/compose/evidence-service.ts'
import { parseScanner } from '../../../src/config/setting-values.ts'
import { createClamd, type Scanner, type ScannerAddress } from '../../../src/identity/evidence/clamd.ts'
import { DocumentInfectedError, ScannerUnavailableError } from '../../../src/identity/evidence/errors.ts'
import { toProblem } from '../../../src/server/problem.ts'
import { freePort } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'
import { startWatchdog } from '../../support/watchdog.ts'
import { pdf, streamOf } from './images.ts'
import { openEvidence } from './support.ts'

setDefaultTimeout(60_000)
const CLAMD = Bun.which('clamd', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` })
// Split, so that no scanner reports this file.
const EICAR = `X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-${'ANTIVIRUS-TEST-FILE!$H+H*'}`
const folder = newFolder()
const closers: (() => void)[] = []
const removals: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  for (const remove of removals.splice(0)) await remove()
})

const outcomeOf = (scanner: Scanner, bytes: Uint8Array): Promise<string | null | Error> =>
  scanner(bytes).catch((error: unknown) => error as Error)

/** Starts a server that handles each connection with `serve`. */
const listen = async (serve: (socket: Socket) => void): Promise<ScannerAddress> => {
  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { host: '127.0.0.1', port: address.port }
}

describe.skipIf(CLAMD === null)(CLAMD === null ? 'clamd (not installed)' : 'clamd', () => {
  const path = join(folder, 'clamd.sock')
  const port = freePort()
  let child: Bun.Subprocess
  let watchdog: ReturnType<typeof startWatchdog>
  const addresses: readonly ScannerAddress[] = [{ path }, { host: '127.0.0.1', port }]

  beforeAll(async () => {
    const database = join(folder, 'database')
    mkdirSync(database)
    // Type 0 (any file), at any offset: the string's bytes in hex.
    writeFileSync(join(database, 'test.ndb'), `Countersign.Test.EICAR:0:*:${Buffer.from(EICAR).toString('hex')}\n`)
    writeFileSync(
      join(folder, 'clamd.conf'),
      [
        `DatabaseDirectory ${database}`,
        `LocalSocket ${path}`,
        `TCPSocket ${port}`,
        'TCPAddr 127.0.0.1',
        `LogFile ${join(folder, 'clamd.log')}`,
        'Foreground yes',
        'StreamMaxLength 1M',
      ].join('\n'),
    )
    child = Bun.spawn([CLAMD ?? '', '-c', join(folder, 'clamd.conf')], { stdio: ['ignore', 'ignore', 'ignore'] })
    watchdog = startWatchdog(child.pid, null)
    const scanner = createClamd({ address: { path }, timeLimitMs: 2_000 })
    await until(async () => {
      if (child.exitCode !== null) throw new Error(await Bun.file(join(folder, 'clamd.log')).text())
      return (await outcomeOf(scanner, Buffer.from('x'))) === null
    })
  })
  afterAll(async () => {
    child?.kill('SIGTERM')
    await child?.exited
    await watchdog?.dismiss()
  })

  test('finds signatures over both kinds of sockets, even in large documents', async () => {
    for (const address of addresses) {
      const scanner = createClamd({ address })
      expect(await scanner(Buffer.from(EICAR))).toBe('Countersign.Test.EICAR.UNOFFICIAL')
      expect(await scanner(pdf(`/Title(${EICAR})`))).toBe('Countersign.Test.EICAR.UNOFFICIAL')
      expect(await scanner(pdf())).toBeNull()
      expect(await scanner(Buffer.concat([Buffer.alloc(300_000, 1), Buffer.from(EICAR)]))).not.toBeNull()
    }
  })

  test('returns an error for a file over its size limit', async () => {
    expect(await outcomeOf(createClamd({ address: { path } }), Buffer.alloc(3_000_000))).toBeInstanceOf(Error)
  })

  test('blocks an infected document, and the audit log records it', async () => {
    const { parts, identity, session } = await openParts({ path }, 'refuse')
    const infected = pdf(`/Title(${EICAR})`)
    expect(await add(parts, session, infected)).toBeInstanceOf(DocumentInfectedError)
    expect((await parts.evidence.listEvidence(session)).documents).toEqual([])
    const { organizationId } = session
    const { items } = await identity.store.audit.page({ organizationId }, { limit: 10, after: null })
    expect(items[0]).toMatchObject({
      action: 'evidence.infected',
      subject: session.id,
      detail: { signature: 'Countersign.Test.EICAR.UNOFFICIAL' },
    })
    expect(await add(parts, session, pdf())).toMatchObject({ mediaType: 'application/pdf' })
    await parts.close()
  })
})

const openParts = async (scanner: ScannerAddress, scannerAway: 'refuse' | 'allow') => {
  const opened = await openEvidence()
  removals.push(opened.remove)
  const warnings: string[] = []
  const parts = createEvidenceParts({
    store: opened.store,
    keys: opened.keys,
    folder: opened.folder,
    scanner,
    scannerAway,
    log: { info: () => undefined, warn: (message) => void warnings.push(message) },
  })
  return { parts, identity: opened, session: await opened.session(await opened.createOrganization('acme')), warnings }
}
const BILL = { kind: 'proof-of-address', fileName: 'bill.pdf', declaredType: '', address: '' } as const
type Opened = Awaited<ReturnType<typeof openParts>>
const add = (parts: Opened['parts'], session: Opened['session'], bytes: Uint8Array): Promise<unknown> =>
  parts.evidence.addDocument(session, { ...BILL, stream: streamOf(bytes) }).catch((error: unknown) => error)

describe('a scanner without a verdict', () => {
  test('returns an error in time: unavailable, silent, sending too much, or with another protocol', async () => {
    const silent = (): void => undefined
    const misbehaving: readonly ((socket: Socket) => void)[] = [
      silent,
      (socket) => socket.destroy(),
      (socket) => void socket.write('x'.repeat(100_000)),
      (socket) => void socket.end('stream: OK'),
      (socket) => void socket.end('stream: \n FOUND\0'),
      (socket) => void socket.end('INSTREAM size limit exceeded. ERROR\0'),
      (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n\0'),
    ]
    for (const serve of misbehaving) {
      const address = await listen((socket) => {
        socket.on('error', () => undefined)
        serve(socket)
      })
      const scanner = createClamd({ address, timeLimitMs: serve === silent ? 300 : 600_000 })
      expect(await outcomeOf(scanner, Buffer.alloc(2_000_000))).toBeInstanceOf(Error)
    }
    for (const address of [{ host: '127.0.0.1', port: freePort() }, { path: join(folder, 'none') }]) {
      expect(await outcomeOf(createClamd({ address }), Buffer.from('x'))).toBeInstanceOf(Error)
    }
  })

  test('refuses uploads, or allows them if the operator configures it', async () => {
    const nowhere = { host: '127.0.0.1', port: freePort() }
    const refusing = await openParts(nowhere, 'refuse')
    const refused = await add(refusing.parts, refusing.session, pdf())
    expect(refused).toBeInstanceOf(ScannerUnavailableError)
    expect(toProblem(refused)).toMatchObject({ status: 503, retryAfterSeconds: 60 })
    expect((await refusing.parts.evidence.listEvidence(refusing.session)).documents).toEqual([])
    const allowing = await openParts(nowhere, 'allow')
    expect(await add(allowing.parts, allowing.session, pdf())).toMatchObject({ mediaType: 'application/pdf' })
    for (const { warnings, parts } of [refusing, allowing]) {
      expect(warnings).toEqual(['the document scanner is unavailable'])
      await parts.close()
    }
  })
})

test('the setting must be a socket', () => {
  expect(parseScanner('')).toBeNull()
  expect(parseScanner('unix:/run/clamav/clamd.ctl')).toEqual({ path: '/run/clamav/clamd.ctl' })
  expect(parseScanner('tcp:[::1]:3310')).toEqual({ host: '::1', port: 3_310 })
  for (const text of ['unix:relative', '/run/clamd', 'http://x', 'tcp:x', 'tcp:host:99999']) {
    expect(() => parseScanner(text)).toThrow('must be')
  }
})
