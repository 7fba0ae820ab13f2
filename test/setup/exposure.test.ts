// Reports about unencrypted traffic that crosses a network.
import { describe, expect, test } from 'bun:test'
import { parseByListener, parseListen, parseRoles } from '../../src/config/setting-values.ts'
import { parseNetworks } from '../../src/server/client-address.ts'
import { inspectExposure } from '../../src/setup/exposure.ts'
import { parseStoreAddress } from '../../src/store/store-address.ts'
import { runCountersign } from '../service/run-to-end.ts'
import { freePort, startService } from '../service/start-service.ts'

const config = (
  api: string,
  portal = ':8081',
  dashboard = ':8082',
  metrics: string | null = null,
  trustedProxies = '',
) => ({
  serve: parseRoles('all'),
  apiListen: parseListen(api),
  portalListen: parseListen(portal),
  dashboardListen: parseListen(dashboard),
  trustedProxies: parseNetworks(trustedProxies),
  tlsCertificate: parseByListener(''),
  metricsListen: metrics === null || metrics === 'api' ? (metrics as null | 'api') : parseListen(metrics),
})
const FILE = parseStoreAddress('sqlite:/data.db')

describe('reported exposure', () => {
  test('excludes loopback listeners and verified stores', () => {
    for (const host of ['', '127.0.0.1', '127.9.9.9', '[::1]', 'localhost']) {
      expect(inspectExposure(config(`${host}:8080`), FILE)).toEqual([])
    }
    expect(inspectExposure(config(':8080', ':8081', ':8082', 'api'), FILE)).toEqual([])
    expect(inspectExposure(config(':8080'), parseStoreAddress('postgres://ada@db.example/c'))).toEqual([])
  })

  test('includes each reachable listener, and a store without certificate verification', () => {
    const found = inspectExposure(
      config('0.0.0.0:8080', '[::]:8081', '10.0.0.4:8082', '0.0.0.0:9464'),
      parseStoreAddress('postgres://ada:canary@db.example/c?sslmode=require'),
    )
    expect(found.map(({ check, subject }) => [check, subject])).toEqual([
      ['store', 'store'],
      ['listener', 'api-listen'],
      ['listener', 'portal-listen'],
      ['listener', 'dashboard-listen'],
      ['listener', 'metrics-listen'],
    ])
    expect(JSON.stringify(found)).not.toContain('canary')
  })

  test('excludes listeners behind trusted proxies unless all of them are on this machine', () => {
    const open = ['0.0.0.0:8080', '[::]:8081', '10.0.0.4:8082'] as const
    expect(inspectExposure(config(...open, null, '10.0.0.0/24'), FILE)).toEqual([])
    expect(inspectExposure(config(...open, null, '127.0.0.1,fd00::1'), FILE)).toEqual([])
    expect(inspectExposure(config(...open, null, '127.0.0.1,::1'), FILE)).toHaveLength(3)
    // Monitoring does not use the proxy.
    const monitored = inspectExposure(config(...open, '0.0.0.0:9464', '10.0.0.0/24'), FILE)
    expect(monitored.map(({ subject }) => subject)).toEqual(['metrics-listen'])
  })

  test('excludes listeners with a certificate', () => {
    const tlsCertificate = parseByListener('api=/c.pem,dashboard=/c.pem')
    const found = inspectExposure({ ...config('0.0.0.0:8080', '[::]:8081', '10.0.0.4:8082'), tlsCertificate }, FILE)
    expect(found.map(({ subject }) => subject)).toEqual(['portal-listen'])
  })

  test('is logged at startup and reported by doctor', async () => {
    const listen = `0.0.0.0:${freePort()}`
    const service = await startService({
      environment: { COUNTERSIGN_WORKERS: '1' },
      arguments: ['--api-listen', listen],
    })
    try {
      const line = await service.logLine(({ message }) => message === 'traffic may cross a network unprotected')
      expect(line).toMatchObject({ level: 'warn', setting: 'api-listen' })
      const settings = { COUNTERSIGN_DATA_DIR: service.dataDirectory, COUNTERSIGN_API_LISTEN: listen }
      const { code, stdout } = await runCountersign(settings, 'doctor', '--json')
      const { ok, exposure } = JSON.parse(stdout) as { ok: boolean; exposure: { check: string; subject: string }[] }
      const listeners = exposure.flatMap(({ check, subject }) => (check === 'listener' ? [subject] : []))
      expect({ code, ok, listeners }).toEqual({ code: 0, ok: true, listeners: ['api-listen'] })
    } finally {
      await service.stop()
    }
  })
})
