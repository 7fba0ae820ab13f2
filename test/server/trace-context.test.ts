import { describe, expect, test } from 'bun:test'
import { parseTraceParent } from '../../src/server/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

describe('traceparent', () => {
  test("the recommendation's example", () => {
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, parentId: SPAN, sampled: true })
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-00`)).toEqual({ traceId: TRACE, parentId: SPAN, sampled: false })
  })

  test('only the lowest flag means sampled', () => {
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-02`)?.sampled).toBe(false)
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-ff`)?.sampled).toBe(true)
  })

  test('a later version may have more fields', () => {
    expect(parseTraceParent(`01-${TRACE}-${SPAN}-01`)?.traceId).toBe(TRACE)
    expect(parseTraceParent(`cc-${TRACE}-${SPAN}-01-what-the-future-brings`)?.traceId).toBe(TRACE)
  })

  test.each([
    ['none', null],
    ['empty', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['version 00 with more fields', `00-${TRACE}-${SPAN}-01-x`],
    ['a later version with more characters but no dash', `cc-${TRACE}-${SPAN}-01x`],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['no dashes', `00_${TRACE}_${SPAN}_01`],
    ['flags that are no hex', `00-${TRACE}-${SPAN}-0g`],
    ['a version that is no hex', `0x-${TRACE}-${SPAN}-01`],
    ['two headers', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ])('%s is ignored', (_name, header) => {
    expect(parseTraceParent(header)).toBeNull()
  })
})
