// Values that Kubernetes objects of several kinds have.
// Source: Kubernetes API reference, https://kubernetes.io/docs/reference/kubernetes-api/
import { COUNT, closed, either, listOf, mapOf, matching, oneOf, type Schema, TEXT, TEXTS } from './strict-schema.ts'

export const NAME = matching(/^[a-z][a-z0-9-]*$/)
export const KEY = matching(/^[A-Za-z0-9._-]+$/)
export const LABELS = mapOf({ type: 'string', maxLength: 63 })
export const QUANTITY = matching(/^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/)
export const QUANTITIES = mapOf(QUANTITY)
export const PORT_NUMBER: Schema = { type: 'integer', minimum: 1, maximum: 65_535 }
export const PORT_NAME = matching(/^[a-z][a-z0-9-]{0,14}$/)
export const PORT = either(PORT_NUMBER, PORT_NAME)
export const PROTOCOL = oneOf('TCP', 'UDP', 'SCTP')
export const COUNT_OR_PERCENT = either(COUNT, matching(/^\d+%$/))
export const METADATA = closed(
  { name: NAME, namespace: NAME, labels: LABELS, annotations: mapOf({ type: 'string' }) },
  'name',
)

export const SELECTOR = closed({
  matchLabels: LABELS,
  matchExpressions: listOf(
    closed({ key: TEXT, operator: oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'), values: TEXTS }, 'key', 'operator'),
  ),
})
