// Keys of the Kubernetes objects that the samples use, and their values.
// Source: Kubernetes API reference, https://kubernetes.io/docs/reference/kubernetes-api/
import {
  BOOLEAN,
  COUNT,
  closed,
  either,
  listOf,
  mapOf,
  matching,
  oneOf,
  type Schema,
  TEXT,
  TEXTS,
} from './strict-schema.ts'

const NAME = matching(/^[a-z][a-z0-9-]*$/)
const KEY = matching(/^[A-Za-z0-9._-]+$/)
const LABELS = mapOf({ type: 'string', maxLength: 63 })
const QUANTITY = matching(/^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/)
const QUANTITIES = mapOf(QUANTITY)
const PORT_NUMBER: Schema = { type: 'integer', minimum: 1, maximum: 65_535 }
const PORT_NAME = matching(/^[a-z][a-z0-9-]{0,14}$/)
const PORT = either(PORT_NUMBER, PORT_NAME)
const PROTOCOL = oneOf('TCP', 'UDP', 'SCTP')
const COUNT_OR_PERCENT = either(COUNT, matching(/^\d+%$/))
const METADATA = closed({ name: NAME, labels: LABELS }, 'name')
const SELECTOR = closed({
  matchLabels: LABELS,
  matchExpressions: listOf(
    closed({ key: TEXT, operator: oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'), values: TEXTS }, 'key', 'operator'),
  ),
})

const PROBE = closed({
  httpGet: closed({ path: matching(/^\//), port: PORT }, 'port'),
  periodSeconds: COUNT,
  timeoutSeconds: COUNT,
  failureThreshold: COUNT,
})
const USER = {
  runAsNonRoot: BOOLEAN,
  runAsUser: COUNT,
  runAsGroup: COUNT,
  seccompProfile: closed({ type: oneOf('RuntimeDefault', 'Localhost', 'Unconfined') }, 'type'),
}
const CONTAINER = closed(
  {
    name: NAME,
    image: TEXT,
    command: TEXTS,
    args: TEXTS,
    envFrom: listOf(closed({ configMapRef: closed({ name: NAME }, 'name') })),
    ports: listOf(closed({ name: PORT_NAME, containerPort: PORT_NUMBER, protocol: PROTOCOL }, 'containerPort')),
    startupProbe: PROBE,
    livenessProbe: PROBE,
    readinessProbe: PROBE,
    lifecycle: closed({ preStop: closed({ sleep: closed({ seconds: COUNT }, 'seconds') }) }),
    resources: closed({ requests: QUANTITIES, limits: QUANTITIES }),
    securityContext: closed({
      ...USER,
      allowPrivilegeEscalation: BOOLEAN,
      readOnlyRootFilesystem: BOOLEAN,
      capabilities: closed({ drop: TEXTS }),
    }),
    volumeMounts: listOf(
      closed({ name: NAME, mountPath: matching(/^\//), subPath: TEXT, readOnly: BOOLEAN }, 'name', 'mountPath'),
    ),
  },
  'name',
  'image',
)
const SECRET_VOLUME = closed(
  {
    secretName: NAME,
    defaultMode: { type: 'integer', minimum: 0, maximum: 0o777 },
    items: listOf(closed({ key: KEY, path: TEXT }, 'key', 'path')),
  },
  'secretName',
)
const VOLUME = closed(
  {
    name: NAME,
    persistentVolumeClaim: closed({ claimName: NAME }, 'claimName'),
    secret: SECRET_VOLUME,
    emptyDir: closed({ sizeLimit: QUANTITY }),
  },
  'name',
)
const POD = closed(
  {
    automountServiceAccountToken: BOOLEAN,
    enableServiceLinks: BOOLEAN,
    terminationGracePeriodSeconds: COUNT,
    securityContext: closed({ ...USER, fsGroup: COUNT, fsGroupChangePolicy: oneOf('OnRootMismatch', 'Always') }),
    topologySpreadConstraints: listOf(
      closed(
        {
          maxSkew: COUNT,
          topologyKey: TEXT,
          whenUnsatisfiable: oneOf('DoNotSchedule', 'ScheduleAnyway'),
          labelSelector: SELECTOR,
        },
        'maxSkew',
        'topologyKey',
        'whenUnsatisfiable',
      ),
    ),
    initContainers: listOf(CONTAINER),
    containers: listOf(CONTAINER),
    volumes: listOf(VOLUME),
  },
  'containers',
)
const WORKLOAD = {
  replicas: COUNT,
  minReadySeconds: COUNT,
  selector: SELECTOR,
  template: closed({ metadata: closed({ labels: LABELS }, 'labels'), spec: POD }, 'metadata', 'spec'),
}
const CLAIM = closed(
  {
    accessModes: listOf(oneOf('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod')),
    storageClassName: NAME,
    resources: closed({ requests: QUANTITIES }, 'requests'),
  },
  'accessModes',
  'resources',
)
const RETENTION = oneOf('Retain', 'Delete')
const PEERS = listOf(
  either(
    closed({ namespaceSelector: SELECTOR }, 'namespaceSelector'),
    closed({ ipBlock: closed({ cidr: TEXT, except: TEXTS }, 'cidr') }, 'ipBlock'),
  ),
)
const PORTS = listOf(closed({ port: PORT, protocol: PROTOCOL }))

const objectOf = (
  apiVersion: string,
  kind: string,
  members: Readonly<Record<string, Schema>>,
  ...required: readonly string[]
): readonly [kind: string, schema: Schema] => {
  const properties = { apiVersion: { const: apiVersion }, kind: { const: kind }, metadata: METADATA, ...members }
  return [kind, closed(properties, 'apiVersion', 'kind', 'metadata', ...required)]
}
const withSpec = (
  apiVersion: string,
  kind: string,
  properties: Readonly<Record<string, Schema>>,
  ...required: readonly string[]
) => objectOf(apiVersion, kind, { spec: closed(properties, ...required) }, 'spec')

export const KUBERNETES_OBJECTS: ReadonlyMap<string, Schema> = new Map([
  objectOf('v1', 'ConfigMap', { data: mapOf({ type: 'string' }) }),
  objectOf('v1', 'Secret', { type: TEXT, stringData: mapOf({ type: 'string' }) }),
  objectOf('v1', 'PersistentVolumeClaim', { spec: CLAIM }, 'spec'),
  withSpec('v1', 'Service', {
    clusterIP: oneOf('None'),
    sessionAffinity: oneOf('None', 'ClientIP'),
    selector: LABELS,
    ports: listOf(closed({ name: PORT_NAME, port: PORT_NUMBER, targetPort: PORT, appProtocol: TEXT }, 'port')),
  }),
  withSpec('apps/v1', 'Deployment', WORKLOAD, 'selector', 'template'),
  withSpec(
    'apps/v1',
    'StatefulSet',
    {
      ...WORKLOAD,
      serviceName: NAME,
      podManagementPolicy: oneOf('OrderedReady', 'Parallel'),
      updateStrategy: closed({ type: oneOf('RollingUpdate', 'OnDelete') }),
      persistentVolumeClaimRetentionPolicy: closed({ whenDeleted: RETENTION, whenScaled: RETENTION }),
      volumeClaimTemplates: listOf(closed({ metadata: METADATA, spec: CLAIM }, 'metadata', 'spec')),
    },
    'selector',
    'template',
  ),
  withSpec('policy/v1', 'PodDisruptionBudget', {
    maxUnavailable: COUNT_OR_PERCENT,
    unhealthyPodEvictionPolicy: oneOf('IfHealthyBudget', 'AlwaysAllow'),
    selector: SELECTOR,
  }),
  withSpec(
    'networking.k8s.io/v1',
    'NetworkPolicy',
    {
      podSelector: SELECTOR,
      policyTypes: listOf(oneOf('Ingress', 'Egress')),
      ingress: listOf(closed({ from: PEERS, ports: PORTS })),
      egress: listOf(closed({ to: PEERS, ports: PORTS })),
    },
    'podSelector',
  ),
])
