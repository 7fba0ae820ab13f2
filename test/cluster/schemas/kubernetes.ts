// Keys of the Kubernetes objects that the samples use or may use, and their values.
// Source: Kubernetes API reference, https://kubernetes.io/docs/reference/kubernetes-api/
import {
  COUNT_OR_PERCENT,
  LABELS,
  METADATA,
  NAME,
  PORT,
  PORT_NAME,
  PORT_NUMBER,
  PROTOCOL,
  QUANTITIES,
  SELECTOR,
} from './kubernetes-values.ts'
import { POD_TEMPLATE } from './pod-template.ts'
import { BOOLEAN, COUNT, closed, either, listOf, mapOf, oneOf, type Schema, TEXT, TEXTS } from './strict-schema.ts'

const WORKLOAD = {
  replicas: COUNT,
  minReadySeconds: COUNT,
  revisionHistoryLimit: COUNT,
  selector: SELECTOR,
  template: POD_TEMPLATE,
}
const CLAIM = closed(
  {
    accessModes: listOf(oneOf('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod')),
    storageClassName: NAME,
    resources: closed({ requests: QUANTITIES, limits: QUANTITIES }, 'requests'),
    volumeMode: oneOf('Filesystem', 'Block'),
  },
  'accessModes',
  'resources',
)
const RETENTION = oneOf('Retain', 'Delete')
const PEERS = listOf(
  either(
    closed({ namespaceSelector: SELECTOR, podSelector: SELECTOR }),
    closed({ ipBlock: closed({ cidr: TEXT, except: TEXTS }, 'cidr') }, 'ipBlock'),
  ),
)
const PORTS = listOf(closed({ port: PORT, endPort: PORT_NUMBER, protocol: PROTOCOL }))

const objectOf = (
  apiVersion: string,
  kind: string,
  members: Readonly<Record<string, Schema>>,
  ...required: readonly string[]
): readonly [kind: string, schema: Schema] => {
  const properties = { apiVersion: { const: apiVersion }, kind: { const: kind }, metadata: METADATA, ...members }
  return [kind, closed(properties, 'apiVersion', 'kind', 'metadata', ...required)]
}
const withSpec = (apiVersion: string, kind: string, spec: Schema) => objectOf(apiVersion, kind, { spec }, 'spec')

export const KUBERNETES_OBJECTS: ReadonlyMap<string, Schema> = new Map([
  objectOf('v1', 'ConfigMap', { data: mapOf({ type: 'string' }), immutable: BOOLEAN }),
  objectOf('v1', 'Secret', { type: TEXT, stringData: mapOf({ type: 'string' }), immutable: BOOLEAN }),
  withSpec('v1', 'PersistentVolumeClaim', CLAIM),
  withSpec(
    'v1',
    'Service',
    closed({
      type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
      clusterIP: oneOf('None'),
      publishNotReadyAddresses: BOOLEAN,
      sessionAffinity: oneOf('None', 'ClientIP'),
      selector: LABELS,
      ports: listOf(
        closed({ name: PORT_NAME, port: PORT_NUMBER, targetPort: PORT, protocol: PROTOCOL, appProtocol: TEXT }, 'port'),
      ),
    }),
  ),
  withSpec(
    'apps/v1',
    'Deployment',
    closed(
      {
        ...WORKLOAD,
        progressDeadlineSeconds: COUNT,
        strategy: closed({
          type: oneOf('RollingUpdate', 'Recreate'),
          rollingUpdate: closed({ maxSurge: COUNT_OR_PERCENT, maxUnavailable: COUNT_OR_PERCENT }),
        }),
      },
      'selector',
      'template',
    ),
  ),
  withSpec(
    'apps/v1',
    'StatefulSet',
    closed(
      {
        ...WORKLOAD,
        serviceName: NAME,
        podManagementPolicy: oneOf('OrderedReady', 'Parallel'),
        updateStrategy: closed({
          type: oneOf('RollingUpdate', 'OnDelete'),
          rollingUpdate: closed({ maxUnavailable: COUNT_OR_PERCENT, partition: COUNT }),
        }),
        persistentVolumeClaimRetentionPolicy: closed({ whenDeleted: RETENTION, whenScaled: RETENTION }),
        volumeClaimTemplates: listOf(closed({ metadata: METADATA, spec: CLAIM }, 'metadata', 'spec')),
      },
      'selector',
      'template',
    ),
  ),
  withSpec(
    'policy/v1',
    'PodDisruptionBudget',
    closed({
      minAvailable: COUNT_OR_PERCENT,
      maxUnavailable: COUNT_OR_PERCENT,
      unhealthyPodEvictionPolicy: oneOf('IfHealthyBudget', 'AlwaysAllow'),
      selector: SELECTOR,
    }),
  ),
  withSpec(
    'networking.k8s.io/v1',
    'NetworkPolicy',
    closed(
      {
        podSelector: SELECTOR,
        policyTypes: listOf(oneOf('Ingress', 'Egress')),
        ingress: listOf(closed({ from: PEERS, ports: PORTS })),
        egress: listOf(closed({ to: PEERS, ports: PORTS })),
      },
      'podSelector',
    ),
  ),
])
