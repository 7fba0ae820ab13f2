// The traceparent header (W3C Trace Context): the example of the recommendation, versions, and malformed headers.
import { expect, test } from 'bun:test'
import { parseTraceParent } from '../../src/server/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test.each([
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  // Only the lowest flag means sampled.
  [`00-${TRACE}-${SPAN}-02`, false],
  [`00-${TRACE}-${SPAN}-ff`, true],
  // A later version can have more fields.
  [`01-${TRACE}-${SPAN}-01`, true],
  [`cc-${TRACE}-${SPAN}-01-what-the-future-brings`, true],
])('%s is parsed', (header, sampled) =>
  expect(parseTraceParent(header)).toEqual({ traceId: TRACE, parentId: SPAN, sampled }),
)

test.each([
  ['a missing header', null],
  ['an empty header', ''],
  ['version ff', `ff-${TRACE}-${SPAN}-01`],
  ['version 00 with more fields', `00-${TRACE}-${SPAN}-01-x`],
  ['a later version with more characters but no dash', `cc-${TRACE}-${SPAN}-01x`],
  ['a zero trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a zero span', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['underscores', `00_${TRACE}_${SPAN}_01`],
  ['flags other than hex', `00-${TRACE}-${SPAN}-0g`],
  ['a version other than hex', `0x-${TRACE}-${SPAN}-01`],
  ['two headers', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
])('%s is ignored', (_name, header) => expect(parseTraceParent(header)).toBeNull())
