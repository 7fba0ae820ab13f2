// Finds unencrypted connections from the settings: to the store, and to listeners that other machines can reach.
import type { Config } from '../config/config.ts'
import { isLoopbackHost } from '../lib/loopback.ts'
import { listenText } from '../server/listen-address.ts'
import { describeWeakConnection, type StoreTarget } from '../store/store-address.ts'

export interface ExposureCheck {
  readonly check: 'store' | 'listener'
  readonly subject: string
  /** `problem`: the store is unusable, or a listener can't start. */
  readonly result: 'note' | 'problem'
  readonly detail: string
}

export type ListenSettings = Pick<
  Config,
  'serve' | 'apiListen' | 'portalListen' | 'dashboardListen' | 'metricsListen' | 'trustedProxies' | 'tlsCertificate'
>

/** The operator is responsible for the connection to a proxy on another machine. */
const hasProxyElsewhere = ({ trustedProxies }: ListenSettings): boolean =>
  trustedProxies.some(({ address }) => !isLoopbackHost(address))

/** `role` is null if every process opens the listener. */
const LISTENERS = [
  { setting: 'api-listen', name: 'api', key: 'apiListen', role: null },
  { setting: 'portal-listen', name: 'portal', key: 'portalListen', role: 'portal' },
  { setting: 'dashboard-listen', name: 'dashboard', key: 'dashboardListen', role: 'dashboard' },
  // Monitoring systems connect to it without a proxy.
  { setting: 'metrics-listen', name: 'metrics', key: 'metricsListen', role: null },
] as const

const inspectListeners = (settings: ListenSettings): readonly ExposureCheck[] =>
  LISTENERS.flatMap(({ setting, name, key, role }) => {
    const address = settings[key]
    if (
      (role !== null && !settings.serve.has(role)) ||
      address === null ||
      address === 'api' ||
      isLoopbackHost(address.hostname) ||
      settings.tlsCertificate[name] !== ''
    )
      return []
    if (name !== 'metrics' && hasProxyElsewhere(settings)) return []
    const detail = `${listenText(address)} is reachable from other machines without TLS: set tls-certificate and tls-key, listen on loopback behind a local proxy, or add the proxy’s network to trusted-proxies and allow only the proxy to reach the port`
    return [{ check: 'listener', subject: setting, result: 'note', detail }]
  })

export const inspectExposure = (config: ListenSettings, store: StoreTarget): readonly ExposureCheck[] => {
  const weakness = describeWeakConnection(store)
  return [
    ...(weakness === null ? [] : [{ check: 'store', subject: 'store', result: 'note', detail: weakness } as const]),
    ...inspectListeners(config),
  ]
}
