// The verification page of a started service: sessions are created by the API, links are read from QR codes, and decisions
// are made by commands.
import decodeQr from 'jsqr'
import { PNG } from 'pngjs'
import type { LevelName } from '../../../src/domain/level.ts'
import type { SessionType } from '../../../src/domain/session.ts'
import { freePort, runCommand, startService } from '../../service/start-service.ts'
import type { Registered } from './portal-host.ts'

const linkInPicture = (dataUri: string): string => {
  const { data, width, height } = PNG.sync.read(Buffer.from(dataUri.slice(dataUri.indexOf(',') + 1), 'base64'))
  const found = decodeQr(Uint8ClampedArray.from(data), width, height)
  if (found === null) throw new Error('the QR code cannot be read')
  return found.data
}

export interface DecideOptions {
  readonly comment?: string
  /** Parts to submit again. */
  readonly fix?: string
  /** Revokes a completed session. */
  readonly revoke?: boolean
}

export const startServiceWithPage = async (environment: Readonly<Record<string, string>> = {}) => {
  const port = freePort()
  const service = await startService({
    environment: { COUNTERSIGN_PORTAL_LISTEN: `127.0.0.1:${port}`, ...environment },
  })

  const run = async (...words: string[]): Promise<string> => {
    let [code, stdout, stderr] = [1, '', 'still running']
    // A decision is refused until the checks are made.
    while (code !== 0 && stderr.includes('still running')) {
      ;({ code, stdout, stderr } = await runCommand(service.dataDirectory, ...words))
    }
    if (code !== 0) throw new Error(`countersign ${words.join(' ')}: ${stderr}`)
    return stdout
  }

  const request = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${service.url}/api/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${service.quickstart['IDENTITY_API_KEY']}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Record<string, unknown>
  }

  return {
    url: `http://127.0.0.1:${port}`,
    request,
    register: async (type: SessionType, body: Readonly<Record<string, string>> = {}): Promise<Registered> => {
      const { sessionId, redirectUrl, qrCode } = await request('POST', `register/${type}`, body)
      const link = linkInPicture(String(qrCode))
      if (link !== redirectUrl) throw new Error('the QR code has another link')
      return { sessionId: String(sessionId), link }
    },
    setLevel: (level: LevelName) => run('organization', 'update', 'demo', '--level', level),
    run,
    attest: service.attest,
    verificationHash: service.quickstart['VERIFICATION_HASH'],
    dataDirectory: service.dataDirectory,
    setColor: (color: string) => run('brand', 'update', '--color', color),
    /** Decides as an operator. */
    decide: (sessionId: string, to: 'completed' | 'rejected' | 'retry', options: DecideOptions = {}): Promise<string> =>
      run(
        'session',
        'decide',
        sessionId,
        to,
        '--note',
        'A test.',
        ...(options.comment === undefined ? [] : ['--comment', options.comment]),
        ...(options.fix === undefined ? [] : ['--fix', options.fix]),
        ...(options.revoke === true ? ['--revoke'] : []),
      ),
    /** Sends SIGTERM, and returns the exit code. */
    stop: service.stop,
  }
}
