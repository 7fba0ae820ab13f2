// Claims the listen addresses before the service writes anything.

import { SettingInvalidError } from '../config/settings.ts'
import type { ProcessRole } from '../domain/process-role.ts'
import { errorCodeOf } from '../lib/named-error.ts'
import type { ListenAddress } from '../server/listen-address.ts'

/** Port 0 becomes a free port. @throws SettingInvalidError */
const claimListenAddress = (setting: string, { hostname, port }: ListenAddress): ListenAddress => {
  try {
    const probe = Bun.listen({ hostname, port, exclusive: true, socket: { data: () => undefined } })
    const claimed = { hostname, port: probe.port }
    probe.stop(true)
    return claimed
  } catch (error) {
    const code = errorCodeOf(error)
    const why = code === 'EADDRINUSE' ? 'the address is in use' : 'this machine cannot listen on it'
    throw new SettingInvalidError(`--${setting} ${hostname}:${port}: ${why}; choose another address`)
  }
}

export interface ListenAddresses {
  readonly apiListen: ListenAddress
  readonly portalListen: ListenAddress
  readonly dashboardListen: ListenAddress
}

export interface WantedAddresses extends ListenAddresses {
  /** An address for a separate metrics listener. */
  readonly metricsListen: ListenAddress | 'api' | null
  readonly serve: ReadonlySet<ProcessRole>
}

export const claimListenAddresses = (wanted: WantedAddresses): ListenAddresses => {
  const claimed = new Map<string, string>()
  const claim = (setting: string, address: ListenAddress): ListenAddress => {
    const { hostname, port } = claimListenAddress(setting, address)
    const other = claimed.get(`${hostname}:${port}`)
    if (other !== undefined)
      throw new SettingInvalidError(`--${setting} ${hostname}:${port} is already used by --${other}`)
    claimed.set(`${hostname}:${port}`, setting)
    return { hostname, port }
  }
  const { metricsListen, serve } = wanted
  if (metricsListen !== null && metricsListen !== 'api') claim('metrics-listen', metricsListen)
  return {
    apiListen: claim('api-listen', wanted.apiListen),
    portalListen: serve.has('portal') ? claim('portal-listen', wanted.portalListen) : wanted.portalListen,
    dashboardListen: serve.has('dashboard')
      ? claim('dashboard-listen', wanted.dashboardListen)
      : wanted.dashboardListen,
  }
}
