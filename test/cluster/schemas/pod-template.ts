// Keys of a Kubernetes pod template that the samples use or may use, and their values.
// Source: Kubernetes API reference, https://kubernetes.io/docs/reference/kubernetes-api/
import {
  KEY,
  LABELS,
  NAME,
  PORT,
  PORT_NAME,
  PORT_NUMBER,
  PROTOCOL,
  QUANTITIES,
  QUANTITY,
  SELECTOR,
} from './kubernetes-values.ts'
import {
  BOOLEAN,
  COUNT,
  choice,
  closed,
  listOf,
  mapOf,
  matching,
  oneOf,
  type Schema,
  TEXT,
  TEXTS,
} from './strict-schema.ts'

const HTTP_GET = closed({ path: matching(/^\//), port: PORT, scheme: oneOf('HTTP', 'HTTPS') }, 'port')
const EXEC = closed({ command: TEXTS }, 'command')
const PROBE = closed({
  httpGet: HTTP_GET,
  exec: EXEC,
  tcpSocket: closed({ port: PORT }, 'port'),
  initialDelaySeconds: COUNT,
  periodSeconds: COUNT,
  timeoutSeconds: COUNT,
  successThreshold: COUNT,
  failureThreshold: COUNT,
})
const HOOK = choice({ exec: EXEC, httpGet: HTTP_GET, sleep: closed({ seconds: COUNT }, 'seconds') })

const SECCOMP = closed({ type: oneOf('RuntimeDefault', 'Localhost', 'Unconfined'), localhostProfile: TEXT }, 'type')
const USER = { runAsNonRoot: BOOLEAN, runAsUser: COUNT, runAsGroup: COUNT, seccompProfile: SECCOMP }
const KEY_REFERENCE = closed({ name: NAME, key: KEY, optional: BOOLEAN }, 'name', 'key')
const REFERENCE = closed({ name: NAME, optional: BOOLEAN }, 'name')

const CONTAINER = closed(
  {
    name: NAME,
    image: TEXT,
    imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
    command: TEXTS,
    args: TEXTS,
    workingDir: TEXT,
    env: listOf(
      closed(
        {
          name: TEXT,
          value: { type: 'string' },
          valueFrom: choice({
            configMapKeyRef: KEY_REFERENCE,
            secretKeyRef: KEY_REFERENCE,
            fieldRef: closed({ fieldPath: TEXT }, 'fieldPath'),
          }),
        },
        'name',
      ),
    ),
    envFrom: listOf(closed({ prefix: TEXT, configMapRef: REFERENCE, secretRef: REFERENCE })),
    ports: listOf(closed({ name: PORT_NAME, containerPort: PORT_NUMBER, protocol: PROTOCOL }, 'containerPort')),
    startupProbe: PROBE,
    livenessProbe: PROBE,
    readinessProbe: PROBE,
    lifecycle: closed({ postStart: HOOK, preStop: HOOK }),
    resources: closed({ requests: QUANTITIES, limits: QUANTITIES }),
    securityContext: closed({
      ...USER,
      allowPrivilegeEscalation: BOOLEAN,
      privileged: BOOLEAN,
      readOnlyRootFilesystem: BOOLEAN,
      capabilities: closed({ add: TEXTS, drop: TEXTS }),
    }),
    volumeMounts: listOf(
      closed({ name: NAME, mountPath: matching(/^\//), subPath: TEXT, readOnly: BOOLEAN }, 'name', 'mountPath'),
    ),
  },
  'name',
  'image',
)

const FILE_MODE: Schema = { type: 'integer', minimum: 0, maximum: 0o777 }
const ITEMS = listOf(closed({ key: KEY, path: TEXT, mode: FILE_MODE }, 'key', 'path'))
const VOLUME = closed(
  {
    name: NAME,
    persistentVolumeClaim: closed({ claimName: NAME, readOnly: BOOLEAN }, 'claimName'),
    secret: closed({ secretName: NAME, defaultMode: FILE_MODE, items: ITEMS, optional: BOOLEAN }, 'secretName'),
    configMap: closed({ name: NAME, defaultMode: FILE_MODE, items: ITEMS, optional: BOOLEAN }, 'name'),
    emptyDir: closed({ medium: oneOf('', 'Memory'), sizeLimit: QUANTITY }),
  },
  'name',
)

export const POD_TEMPLATE = closed(
  {
    metadata: closed({ labels: LABELS, annotations: mapOf({ type: 'string' }) }, 'labels'),
    spec: closed(
      {
        automountServiceAccountToken: BOOLEAN,
        enableServiceLinks: BOOLEAN,
        serviceAccountName: NAME,
        imagePullSecrets: listOf(closed({ name: NAME }, 'name')),
        priorityClassName: NAME,
        nodeSelector: LABELS,
        terminationGracePeriodSeconds: COUNT,
        securityContext: closed({
          ...USER,
          fsGroup: COUNT,
          fsGroupChangePolicy: oneOf('OnRootMismatch', 'Always'),
          supplementalGroups: listOf(COUNT),
        }),
        topologySpreadConstraints: listOf(
          closed(
            {
              maxSkew: COUNT,
              minDomains: COUNT,
              topologyKey: TEXT,
              whenUnsatisfiable: oneOf('DoNotSchedule', 'ScheduleAnyway'),
              labelSelector: SELECTOR,
              matchLabelKeys: TEXTS,
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
    ),
  },
  'metadata',
  'spec',
)
