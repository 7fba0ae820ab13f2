// A starting process claims only the listen addresses of its roles.
import { expect, test } from 'bun:test'
import { claimListenAddresses } from '../../src/cluster/claim-listen-addresses.ts'
import { parseListen, parseRoles } from '../../src/config/setting-values.ts'

test('an address in use stops only a process whose roles need it', () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  try {
    const anywhere = parseListen(':0')
    const taken = parseListen(`:${other.port}`)
    const claim = (serve: string) =>
      claimListenAddresses({
        apiListen: anywhere,
        portalListen: taken,
        dashboardListen: taken,
        metricsListen: null,
        serve: parseRoles(serve),
      })
    expect(claim('attestation,identity').portalListen).toEqual(taken)
    expect(() => claim('portal')).toThrow('--portal-listen')
    expect(() => claim('dashboard')).toThrow('--dashboard-listen')
    expect(() => claim('all')).toThrow('the address is in use')
  } finally {
    other.stop(true)
  }
})
