// Evidence and webhooks of a running service: a session that an external service decides, and rotations of the evidence key.
// No log and no file contains secrets or personal data.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createEvidenceParts, type EvidenceParts } from '../../../src/compose/evidence-service.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { signWebhook } from '../../../src/server/webhook-signature.ts'
import { dataFolderAt } from '../../../src/setup/data-folder.ts'
import { prepareOrganizationKeys, rotateEvidenceKey } from '../../../src/setup/evidence-key.ts'
import { lockFolder } from '../../../src/store/sqlite/folder-lock.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { jpegWithMetadata, streamOf } from '../../identity/evidence/images.ts'
import { evmWallet } from '../../identity/support.ts'
import { type Received, startReceiver, verifies } from '../../identity/webhooks/support.ts'
import { runToEnd } from '../../service/run-to-end.ts'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { connectUnproved } from '../../support/connect-unproved.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

const SERVICE_SECRET = 'countersign-canary-secret-of-a-service'
const CANARY = 'countersign-canary'
const CANARIES = { name: `${CANARY}-jane-doe`, file: `${CANARY}-file`, place: `${CANARY}-place` }

let folder: string
let configPath: string
let service: RunningService
let receiver: ReturnType<typeof startReceiver>
let store: Store
let parts: EvidenceParts
let organizationId: string
const secrets = { events: '', decisions: '' }
const endpointIds = { events: '', decisions: '' }

const command = async (...commandArguments: string[]) => {
  const { code, stdout, stderr } = await runCommand(folder, ...commandArguments, '--config', configPath)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

const start = () =>
  startService({
    dataDirectory: folder,
    arguments: ['--config', configPath],
    environment: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_LOG_LEVEL: 'debug' },
  })

beforeAll(async () => {
  folder = newFolder()
  configPath = join(folder, 'config.yaml')
  writeFileSync(configPath, 'webhook-reach: loopback\n')
  receiver = startReceiver()
  const first = await start()
  await first.stop()
  for (const purpose of ['events', 'decisions'] as const) {
    const added = await command('webhook', 'create', '--url', receiver.url, '--purpose', purpose, '--json')
    secrets[purpose] = added.secret
    endpointIds[purpose] = added.endpoint.id
  }
  service = await start()
  const data = dataFolderAt(folder)
  store = await openStore({ path: data.database, clock: systemClock })
  organizationId = (await store.organizations.find('demo'))?.id ?? ''
  const keys = await prepareOrganizationKeys({ evidenceKey: null }, data, store)
  const log = { warn: () => undefined, info: () => undefined }
  parts = createEvidenceParts({ store, keys, folder: data.evidence, log })
}, 60_000)
afterAll(async () => {
  await parts.close()
  await store.close()
  await service.stop()
  await receiver.stop()
})

const secretBytes = (purpose: 'events' | 'decisions'): Uint8Array =>
  new Uint8Array(Buffer.from(secrets[purpose].slice('whsec_'.length), 'base64'))

/** Waits for a message of the receiver. */
const arrival = async (matches: (message: Received) => boolean): Promise<Received> => {
  await until(() => receiver.received.some(matches))
  return receiver.received.find(matches) as Received
}

const postSigned = (path: string, message: object): Promise<Response> => {
  const body = JSON.stringify(message)
  const timestampSeconds = systemClock.unixSeconds()
  const signed = signWebhook([secretBytes('decisions')], { id: crypto.randomUUID(), timestampSeconds, body })
  return fetch(service.url + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...signed } })
}

const call = (path: string, body?: object): Promise<Response> =>
  fetch(service.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${service.quickstart['IDENTITY_API_KEY']}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

describe('a session that an external service decides', () => {
  let sessionId: string

  test('is submitted, decided by a signed result, and reported by webhooks', async () => {
    const created = await call('/api/v1/register/individual', {})
    expect(created.status).toBe(201)
    sessionId = ((await created.json()) as { sessionId: string }).sessionId
    const state = await store.sessions.find(organizationId, sessionId)
    const session = state!.session
    expect(session.provider).toBe('webhook')

    // As on the verification page.
    await connectUnproved(store, { organizationId, sessionId, address: evmWallet(1) })
    await parts.evidence.putFields(session, { fullName: CANARIES.name, birthDate: '1990-01-01', country: 'DE' })
    await parts.evidence.addDocument(session, {
      kind: 'portrait',
      fileName: `${CANARIES.file}.jpg`,
      declaredType: 'image/jpeg',
      address: '',
      stream: streamOf(await jpegWithMetadata(CANARIES.place)),
    })
    expect(await parts.evidence.missing(session)).toEqual([])
    await store.sessions.changeStatus({ organizationId, sessionId, to: 'submitted', actor: 'person' })

    const request = await arrival(({ body }) => body.type === 'session.decision_requested')
    expect(verifies(request, secretBytes('decisions'), systemClock.unixSeconds())).toBe(true)
    const { evidencePath, resultPath, sequence } = request.body.data
    const evidence = await postSigned(String(evidencePath), { type: 'session.evidence_requested', data: { sessionId } })
    const { fields, documents } = (await evidence.json()) as {
      fields: { fullName: string }
      documents: { id: string }[]
    }
    expect(fields.fullName).toBe(CANARIES.name)
    const data = { sessionId, documentId: documents[0]?.id }
    const document = await postSigned(String(evidencePath), { type: 'session.evidence_requested', data })
    expect([document.status, document.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    expect(Buffer.from(await document.arrayBuffer()).includes(CANARIES.place)).toBe(false)

    const result = { sessionId, status: 'completed', sequence }
    const decided = await postSigned(String(resultPath), { type: 'session.decided', data: result })
    expect(await decided.json()).toMatchObject({ status: 'completed', applied: true })
    const status = await call(`/api/v1/status/individual/${sessionId}`)
    expect(await status.json()).toMatchObject({ sessionId, status: 'completed' })

    const last = await arrival(
      ({ body }) => body.type === 'session.status_changed' && body.data['status'] === 'completed',
    )
    expect(verifies(last, secretBytes('events'), systemClock.unixSeconds())).toBe(true)
    expect(receiver.received.map(({ body }) => body.type).filter((type) => type === 'session.created').length).toBe(1)
  }, 20_000)

  test('has evidence that commands show, save and erase, with a record of each read', async () => {
    const out = join(folder, 'portrait.jpg')
    const shown = await command('evidence', 'show', sessionId, '--by', 'ada', '--json')
    expect(shown).toMatchObject({ fields: { full_name: CANARIES.name }, missing: [] })
    const [document] = shown.documents
    expect(document.file_name).toBe(`${CANARIES.file}.jpg`)
    await command('evidence', 'save', sessionId, document.id, '--out', out, '--by', 'ada', '--json')
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect(statSync(out).size).toBe(document.bytes)
    const again = await runCommand(folder, 'evidence', 'save', sessionId, document.id, '--out', out, '--by', 'eve')
    expect([again.code, again.stderr]).toEqual([1, 'the file already exists\n'])
    rmSync(out)
    const listed = await command('evidence', 'list-reads', sessionId, '--json')
    const reads: { kind: string; actor: string }[] = listed.data
    expect(reads).toContainEqual(expect.objectContaining({ kind: 'portrait', actor: 'check' }))
    // Checks of the service read evidence at any time.
    const byOthers = reads.filter(({ actor }) => actor !== 'check')
    expect(byOthers.map(({ kind, actor }) => [kind, actor])).toEqual([
      ['fields', 'provider:webhook'],
      ['portrait', 'provider:webhook'],
      ['fields', 'operator:ada'],
      ['portrait', 'operator:ada'],
      ['portrait', 'operator:eve'],
    ])
    expect(parts.metrics()).toMatchObject({ evidencePieces: { stored: 2, erased: 0 }, retentionRuns: { failed: 0 } })
    expect(parts.metrics().evidenceBytesStored).toBeGreaterThan(100)
    expect(await command('evidence', 'erase', sessionId, '--by', 'ada', '--json')).toEqual({ erased: 2 })
    expect(readdirSync(join(folder, 'evidence'))).toEqual([])
    expect(await command('evidence', 'show', sessionId, '--json')).toMatchObject({ fields: {}, documents: [] })
    expect(await (await call(`/api/v1/status/individual/${sessionId}`)).json()).toMatchObject({ status: 'completed' })
  }, 30_000)

  test('has webhook deliveries that commands show and resend', async () => {
    const { data: deliveries } = await command('webhook-message', 'list', '--json')
    expect(deliveries.every(({ state }: { state: string }) => state === 'delivered')).toBe(true)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    const delivered = Number(/^countersign_webhook_deliveries_total\{outcome="delivered"\} (\d+)$/m.exec(metrics)?.[1])
    expect(delivered).toBe(deliveries.length)
    expect(metrics).toMatch(/^countersign_webhook_waiting_messages 0$/m)
    expect(metrics).toMatch(/^countersign_evidence_retention_runs_total\{outcome="completed"\} 1$/m)
    const created = deliveries.find(({ type }: { type: string }) => type === 'session.created')
    const before = receiver.received.length
    expect((await command('webhook-message', 'resend', created.id, '--json')).state).toBe('waiting')
    await until(() => receiver.received.length > before)
    expect(receiver.received.at(-1)?.id).toBe(created.id)
    const rotated = await command('webhook', 'rotate', endpointIds.events, '--overlap', '0', '--json')
    expect(rotated.secret).not.toBe(secrets.events)
    expect(await command('webhook', 'delete', endpointIds.events, '--json')).toEqual({})
    expect((await command('webhook', 'list', '--json')).data.map(({ id }: { id: string }) => id)).toEqual([
      endpointIds.decisions,
    ])
  }, 30_000)

  test('accepts signed messages of a verification service at its path', async () => {
    const path = join(folder, 'secrets', 'service-secret')
    writeFileSync(path, SERVICE_SECRET)
    const words = ['webhook', 'set-service', endpointIds.decisions, 'veriff', '--secret-file', path, '--json']
    const named = await command(...words)
    const body = JSON.stringify({
      verification: { status: 'approved', vendorData: 'no-session', decisionTime: new Date().toISOString() },
    })
    const send = (signature: string) =>
      fetch(`${service.url}${named.service_path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-hmac-signature': signature },
      })
    const signature = createHmac('sha256', SERVICE_SECRET).update(body).digest('hex')
    expect((await send(signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')))).status).toBe(401)
    expect(await (await send(signature)).json()).toEqual({ applied: false, ignored: 'other-session' })
  }, 30_000)

  test('leaves no secrets or personal data in logs, or unencrypted on disk', async () => {
    const key = readFileSync(join(folder, 'secrets', 'evidence-key'), 'utf8').trim()
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(statSync(join(folder, 'secrets', 'evidence-key')).mode & 0o777).toBe(0o600)
    const hidden = [...Object.values(CANARIES), secrets.events, secrets.decisions, key, SERVICE_SECRET]
    const { stdout, stderr } = service.output()
    for (const secret of hidden) expect(`${stdout}${stderr}`.includes(secret)).toBe(false)
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('secrets'))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
    expect(files.length).toBeGreaterThan(3)
    for (const bytes of files) for (const secret of hidden) expect(bytes.includes(secret)).toBe(false)
  })
})

describe('the evidence key', () => {
  let own: string
  beforeAll(async () => {
    own = newFolder()
    const first = await startService({ dataDirectory: own, environment: { COUNTERSIGN_WORKERS: '1' } })
    await first.stop()
    // The first secret creates the organization's key, which the evidence key wraps.
    const added = await runCommand(own, 'webhook', 'add', '--url', 'https://backend.example/hook')
    expect(added.code).toBe(0)
  }, 60_000)

  const startFails = async (environment: Readonly<Record<string, string>>): Promise<string> => {
    const ports = ['api', 'portal', 'dashboard'].flatMap((name) => [`--${name}-listen`, '127.0.0.1:0'])
    const { code, stderr } = await runToEnd(['bun', 'src/main.ts', '--data-dir', own, ...ports], environment)
    expect([code, stderr]).toEqual([2, expect.any(String)])
    return stderr
  }

  test('must exist and match the encrypted evidence', async () => {
    const other = 'ab'.repeat(32)
    expect(await startFails({ COUNTERSIGN_EVIDENCE_KEY: other })).toContain('does not match this deployment’s key')
    expect(await startFails({ COUNTERSIGN_EVIDENCE_KEY: 'short' })).toContain('must contain 64 hex digits')
    expect(await startFails({ COUNTERSIGN_EVIDENCE_KEY: '' })).toContain('COUNTERSIGN_EVIDENCE_KEY is empty')
    expect(await startFails({ COUNTERSIGN_EVIDENCE_KEY: other, COUNTERSIGN_EVIDENCE_KEY_FILE: '/dev/null' })).toContain(
      'not both',
    )
    const path = join(own, 'secrets', 'evidence-key')
    renameSync(path, `${path}.away`)
    try {
      expect(await startFails({})).toContain('the evidence key is missing: restore it to')
    } finally {
      renameSync(`${path}.away`, path)
    }
  }, 30_000)

  test('is rotated while two processes run, which use both keys', async () => {
    const path = join(own, 'secrets', 'evidence-key')
    const first = readFileSync(path, 'utf8')
    const settings = join(own, 'config.yaml')
    writeFileSync(settings, 'webhook-reach: loopback\n')
    const events = startReceiver()
    const running = await startService({
      dataDirectory: own,
      arguments: ['--config', settings, '--processes', '2'],
      environment: { COUNTERSIGN_WORKERS: '1' },
    })
    const run = (...words: string[]) => runCommand(own, ...words, '--config', settings, '--json')
    const register = async (): Promise<void> => {
      const answer = await fetch(`${running.url}/api/v1/register/individual`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${running.quickstart['IDENTITY_API_KEY']}`,
          'content-type': 'application/json',
        },
        body: '{}',
      })
      expect(answer.status).toBe(201)
    }
    try {
      const { secret } = JSON.parse((await run('webhook', 'add', '--url', events.url)).stdout) as { secret: string }
      const bytes = new Uint8Array(Buffer.from(secret.slice('whsec_'.length), 'base64'))
      await register()
      await until(() => events.received.length === 1)

      // Concurrent rotations are refused, because each would create the next key.
      const other = lockFolder(join(own, 'rotation.lock'), '', 'held')
      const refused = await run('evidence', 'rotate-key')
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('another rotation is running on')])
      expect(readFileSync(path, 'utf8')).toBe(first)
      other.release()
      const rotated = await run('evidence', 'rotate-key')
      expect(rotated.stderr).toBe('')
      const result = { organizations: 1, unreadable: 0, file: path, in_place: true, previous: `${path}.previous-1` }
      expect(JSON.parse(rotated.stdout)).toEqual({ ...result, secrets: 2 })
      const second = readFileSync(path, 'utf8')
      expect(second).not.toBe(first)
      expect([statSync(path).mode & 0o777, existsSync(`${path}.next`)]).toEqual([0o600, false])
      const listed = await run('audit', 'list')
      expect(JSON.parse(listed.stdout).data[0]).toMatchObject({ action: 'command.evidence.rotate-key' })

      // Both processes read secrets that the new key wraps.
      for (let at = 0; at < 6; at++) await register()
      await until(() => events.received.length === 7)
      for (const message of events.received) expect(verifies(message, bytes, systemClock.unixSeconds())).toBe(true)
      expect((await run('webhook', 'add', '--url', events.url)).code).toBe(0)
      await register()
      await until(() => events.received.length === 9)
    } finally {
      expect(await running.stop()).toBe(0)
      await events.stop()
    }
    const refusal = await startFails({ COUNTERSIGN_EVIDENCE_KEY: first.trim() })
    expect(refusal).toContain('does not match this deployment’s key')
  }, 90_000)

  test('decrypts all data after any interruption of its rotation, which resumes', async () => {
    const path = join(own, 'secrets', 'evidence-key')
    const folder = { evidenceKey: path }
    const open = async () => {
      const opened = await openStore({ path: dataFolderAt(own).database, clock: systemClock })
      const organization = (await opened.organizations.find('demo'))?.id ?? ''
      const openSecret = async () => {
        const [endpoint] = await opened.webhookEndpoints.list(organization)
        const keys = await prepareOrganizationKeys({ evidenceKey: null }, folder, opened)
        await keys.open(organization, 'webhook secret', endpoint?.id ?? '', endpoint?.sealedSecret ?? new Uint8Array())
      }
      return { opened, openSecret }
    }
    const rotate = async (store: Parameters<typeof rotateEvidenceKey>[0]['store']) =>
      rotateEvidenceKey({ config: { evidenceKey: null }, folder, store, wait: async () => undefined })

    const interruptions = {
      'after the creation of the next key': (there: Store) => ({
        ...there,
        deployment: { ...there.deployment, replace: () => Promise.reject(new Error('power cut')) },
      }),
      'after the first use of the next key': (there: Store) => ({
        ...there,
        organizationKeys: {
          ...there.organizationKeys,
          organizationsToRotate: () => Promise.reject(new Error('power cut')),
        },
      }),
      'before the next key replaces the old one': null,
    }
    for (const [when, interrupt] of Object.entries(interruptions)) {
      const before = readFileSync(path, 'utf8')
      const { opened, openSecret } = await open()
      try {
        if (interrupt === null) {
          await rotate(opened)
          renameSync(path, `${path}.next`)
          writeFileSync(path, before, { mode: 0o600 })
        } else {
          await expect(rotate(interrupt(opened)), when).rejects.toThrow('power cut')
        }
        const next = readFileSync(`${path}.next`, 'utf8')
        await openSecret()
        const again = await runCommand(own, 'evidence', 'rotate-key', '--json')
        expect([again.stderr, JSON.parse(again.stdout).unreadable], when).toEqual(['', 0])
        expect([readFileSync(path, 'utf8'), existsSync(`${path}.next`)], when).toEqual([next, false])
      } finally {
        await opened.close()
      }
      const after = await open()
      await after.openSecret()
      await after.opened.close()
    }
    const restarted = await startService({ dataDirectory: own, environment: { COUNTERSIGN_WORKERS: '1' } })
    expect(await restarted.stop()).toBe(0)
  }, 90_000)

  test('is not rotated if it is in a variable, which a service reads only once', async () => {
    const opened = await openStore({ path: dataFolderAt(own).database, clock: systemClock })
    const evidenceKey = { source: 'environment', name: 'COUNTERSIGN_EVIDENCE_KEY' } as const
    const wait = async () => undefined
    const rotation = rotateEvidenceKey({ config: { evidenceKey }, folder: dataFolderAt(own), store: opened, wait })
    await expect(rotation).rejects.toThrow('set COUNTERSIGN_EVIDENCE_KEY_FILE and restart')
    await opened.close()
  })
})
