// TLS of the listeners, with OpenSSL and curl: certificates, refusals, and the replacement of certificates in a running service.
import { beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseByListener } from '../../src/config/setting-values.ts'
import { SettingInvalidError } from '../../src/config/settings.ts'
import { readListenerTls } from '../../src/setup/tls-files.ts'
import { newFolder } from '../support/folder.ts'
import { runCountersign, runToEnd } from './run-to-end.ts'
import { type RunningService, startAlone } from './start-service.ts'

const MISSING = ['openssl', 'curl'].filter((program) => Bun.which(program) === null)
let folder: string
const at = (name: string): string => join(folder, name)

const makePair = async (name: string): Promise<void> => {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)]
  const made = await runToEnd(['openssl', 'req', '-x509', ...curve, ...names, ...files])
  if (made.code !== 0) throw new Error(made.stderr)
}

beforeAll(async () => {
  folder = newFolder()
  if (MISSING.length > 0) return
  await Promise.all([makePair('first'), makePair('second')])
})

/** Requests a URL, if the certificate of the listener is from this authority. */
const curl = async (url: string, authority: string, ...words: string[]) =>
  runToEnd(['curl', '-sS', '--max-time', '10', '--cacert', at(authority), ...words, url])
/** Returns the cipher of a connection with this TLS version. */
const handshake = async (url: string, version: string): Promise<string> => {
  const weak = ['-cipher', 'ALL:@SECLEVEL=0', '-connect', new URL(url).host]
  const child = Bun.spawn(['openssl', 's_client', version, ...weak], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const text = await new Response(child.stdout).text()
  await child.exited
  return /Cipher is (\S+)/.exec(text)?.[1] ?? 'nothing'
}

const start = (settings: Record<string, string>): Promise<RunningService> =>
  startAlone({ environment: { COUNTERSIGN_WORKERS: '1', ...settings } })

describe.skipIf(MISSING.length > 0)('TLS (needs openssl and curl)', () => {
  test('one certificate serves every listener with TLS 1.2 or higher, and URLs use https', async () => {
    const service = await start({ COUNTERSIGN_TLS_CERTIFICATE: at('first.pem'), COUNTERSIGN_TLS_KEY: at('first.key') })
    try {
      const { PORTAL_URL = '', DASHBOARD_URL = '', ATTESTATION_URL = '' } = service.quickstart
      expect(service.url).toBe(ATTESTATION_URL)
      for (const url of [`${service.url}/livez`, `${PORTAL_URL}/robots.txt`, `${DASHBOARD_URL}/`]) {
        expect(url).toStartWith('https://')
        expect(await curl(url, 'first.pem')).toMatchObject({ code: 0, stderr: '' })
        // 60: another authority. 52, 56: no unencrypted response.
        expect((await curl(url, 'second.pem')).code).toBe(60)
        expect([52, 56]).toContain((await curl(url.replace('https:', 'http:'), 'first.pem')).code)
        expect([await handshake(url, '-tls1_1'), await handshake(url, '-tls1_2')]).toEqual([
          '(NONE)',
          expect.stringContaining('ECDHE'),
        ])
      }
      expect(service.output().stdout).toContain('https://127.0.0.1:')
      const page = await curl(`${DASHBOARD_URL}/`, 'first.pem', '-i')
      expect(page.stdout.toLowerCase()).toContain('strict-transport-security')
    } finally {
      expect(await service.stop()).toBe(0)
    }
  }, 60_000)

  test('a certificate can be set for one listener only', async () => {
    const service = await start({
      COUNTERSIGN_TLS_CERTIFICATE: `api=${at('second.pem')}`,
      COUNTERSIGN_TLS_KEY: `api=${at('second.key')}`,
    })
    try {
      expect((await curl(`${service.url}/livez`, 'second.pem')).code).toBe(0)
      expect(service.quickstart['DASHBOARD_URL']).toStartWith('http://')
      expect((await fetch(`${service.quickstart['DASHBOARD_URL']}/`)).status).toBe(200)
    } finally {
      expect(await service.stop()).toBe(0)
    }
  }, 60_000)

  test.skipIf(process.platform !== 'linux')(
    'SIGHUP loads new files in all processes, unless the key does not match the certificate',
    120_000,
    async () => {
      const [certificate, key] = [at('live.pem'), at('live.key')]
      copyFileSync(at('first.pem'), certificate)
      copyFileSync(at('first.key'), key)
      const service = await start({
        COUNTERSIGN_PROCESSES: '2',
        COUNTERSIGN_TLS_CERTIFICATE: certificate,
        COUNTERSIGN_TLS_KEY: key,
      })
      const shown = async (authority: string): Promise<number> => (await curl(`${service.url}/livez`, authority)).code
      try {
        await service.logLine(({ message }) => message === 'all processes are ready')
        expect(await shown('first.pem')).toBe(0)
        copyFileSync(at('second.pem'), certificate)
        service.process.kill('SIGHUP')
        const refused = await service.logLine(({ message }) => String(message).startsWith('no process is replaced'))
        expect(refused['reason']).toContain('does not match the certificate')
        expect(await shown('first.pem')).toBe(0)
        copyFileSync(at('second.key'), key)
        service.process.kill('SIGHUP')
        await service.logLine(({ message }) => message === 'replaced all processes')
        // Connections are distributed to both processes.
        for (let n = 0; n < 8; n++) expect(await shown('second.pem')).toBe(0)
        expect(await curl(`${service.quickstart['DASHBOARD_URL']}/`, 'second.pem')).toMatchObject({ code: 0 })
      } finally {
        expect(await service.stop()).toBe(0)
      }
    },
  )

  const refusal = (certificate: string, key: string): string => {
    try {
      readListenerTls({ tlsCertificate: parseByListener(certificate), tlsKey: parseByListener(key) })
      return ''
    } catch (error) {
      if (error instanceof SettingInvalidError) return error.message
      throw error
    }
  }

  test('an error about the files is one line with their names', async () => {
    const [certificate, key] = [at('first.pem'), at('first.key')]
    writeFileSync(at('empty'), '')
    const sealed = await runToEnd(['openssl', 'ec', '-in', key, '-aes128', '-passout', 'pass:x', '-out', at('sealed')])
    expect(sealed.code).toBe(0)
    const expected: readonly (readonly [certificate: string, key: string, error: string])[] = [
      [certificate, key, ''],
      ['', '', ''],
      [at('none'), key, `--tls-certificate ${at('none')} does not exist`],
      [certificate, at('none'), `--tls-key ${at('none')} does not exist`],
      [folder, key, `--tls-certificate ${folder} cannot be read (EISDIR)`],
      [at('empty'), key, 'is not a certificate'],
      [key, key, 'is not a certificate'],
      [certificate, at('empty'), 'is not a private key'],
      [certificate, at('sealed'), 'without a passphrase'],
      [certificate, at('second.key'), 'does not match the certificate'],
      [certificate, '', '--tls-certificate is set for the api listener, but --tls-key is not'],
      ['', key, '--tls-key is set for the api listener, but --tls-certificate is not'],
      [`portal=${certificate}`, `api=${key}`, '--tls-key is set for the api listener'],
    ]
    for (const [given, other, error] of expected) {
      const message = refusal(given, other)
      if (error === '') expect(message).toBe('')
      else expect(message).toContain(error)
      expect(message).not.toContain('\n')
    }
    for (const text of ['api=', 'api=a,api=b', 'api=a,b', 'api=a,other=b'])
      expect(() => parseByListener(text)).toThrow()
  })

  test('a start fails with that line, and doctor reports the problem', async () => {
    const settings = {
      COUNTERSIGN_DATA_DIR: at('data'),
      COUNTERSIGN_TLS_CERTIFICATE: at('first.pem'),
      COUNTERSIGN_TLS_KEY: at('second.key'),
    }
    const ports = ['--api-listen', ':0', '--portal-listen', ':0', '--dashboard-listen', ':0']
    const started = await runToEnd(['bun', 'src/main.ts', ...ports], settings)
    expect(started).toMatchObject({ code: 2, stdout: '' })
    expect(started.stderr.trim().split('\n').at(-1)).toContain('countersign: --tls-key')
    const { code, stdout } = await runCountersign(settings, 'doctor', '--json')
    const { exposure } = JSON.parse(stdout) as { exposure: unknown[] }
    expect(code).toBe(1)
    expect(exposure).toContainEqual(expect.objectContaining({ subject: 'tls-certificate', result: 'problem' }))
  }, 60_000)
})
