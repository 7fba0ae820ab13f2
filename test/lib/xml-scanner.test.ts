import { describe, expect, test } from 'bun:test'
import { createXmlScanner, XmlInvalidError } from '../../src/lib/xml-scanner.ts'

const scan = (xml: string, pieceLength = xml.length || 1, attribute = 'a') => {
  const events: string[] = []
  let text = ''
  const flush = (): void => {
    if (text !== '') events.push(JSON.stringify(text))
    text = ''
  }
  const scanner = createXmlScanner({
    open: (name, attributeOf) => {
      flush()
      const value = attributeOf(attribute)
      events.push(value === null ? `<${name}>` : `<${name} ${value}>`)
    },
    text: (piece) => {
      text += piece
    },
    close: (name) => {
      flush()
      events.push(`</${name}>`)
    },
  })
  for (let at = 0; at < xml.length; at += pieceLength) scanner.write(xml.slice(at, at + pieceLength))
  scanner.end()
  return events
}

const problemOf = (xml: string): string => {
  try {
    scan(xml)
  } catch (error) {
    expect(error).toBeInstanceOf(XmlInvalidError)
    return (error as XmlInvalidError).detail
  }
  throw new Error('it was accepted')
}

const DOCUMENT = `<?xml version="1.0"?><!-- <no> --><x:r a="1 > 0" b='"'><e a='&quot;&#65;&#x42;'/>t &amp; u<![CDATA[<&>]]><é
  a = "2"  ></é><!--->--></x:r>
`

describe('the XML scanner', () => {
  test('tells of tags, their attributes and their text', () => {
    expect(scan(DOCUMENT)).toEqual(['<r 1 > 0>', '<e "AB>', '</e>', '"t & u<&>"', '<é 2>', '</é>', '</r>'])
  })

  test('reads the same wherever the document is cut', () => {
    const whole = scan(DOCUMENT)
    for (let length = 1; length < 40; length++) expect(scan(DOCUMENT, length)).toEqual(whole)
  })

  test('takes no document type and no entity of its own: nothing expands, nothing is fetched', () => {
    expect(problemOf('<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>')).toBe('document types are not supported')
    expect(problemOf('<r>&lol;</r>')).toBe('unsupported entity &lol;')
    expect(problemOf('<r>&#0;</r>')).toBe('unsupported entity &#0;')
    expect(problemOf('<r>&#x110000;</r>')).toBe('unsupported entity &#x110000;')
  })

  test('takes nothing that is cut off or not a tree', () => {
    for (const xml of ['', '   ', '<r>', '<r><e></e>', '<r>text', '<r', '<r></r', '<r><!-- ']) {
      expect(problemOf(xml)).toBe('unexpected end of the document')
    }
    expect(problemOf('<r><e></r></e>')).toBe('elements are not closed in order')
    expect(problemOf('<r></r><r></r>          ')).toBe('the document must have one root element and limited nesting')
    expect(problemOf('</r>           ')).toBe('elements are not closed in order')
    expect(problemOf('not XML at all <r></r>')).toBe('not an XML document')
    expect(problemOf('<a>'.repeat(300))).toBe('the document must have one root element and limited nesting')
    expect(problemOf('< a></ a>         ')).toBe('tag without a name')
  })

  test('refuses a tag with a malformed attribute, and finds no attribute inside a value', () => {
    for (const tag of ['<r b>', '<r b c="1">', '<r b=1>', '<r b="1"c="2">', '<r b = >', '<r / >', '<r ="1">']) {
      expect(problemOf(`${tag}</r>`)).toBe('malformed attribute')
    }
    expect(scan(`<r b=' a="1"'></r>`)).toEqual(['<r>', '</r>'])
    expect(scan(`<r\tb="1"\n/>   `)).toEqual(['<r>', '</r>'])
  })

  test('refuses a long tag or text also if all of it is in one piece', () => {
    expect(problemOf(`<r a="${'t'.repeat(70_000)}"></r>`)).toBe('a tag or text is too long')
    expect(problemOf(`<r>${'t'.repeat(70_000)}</r>`)).toBe('a tag or text is too long')
  })

  test('keeps no more than a token', () => {
    expect(problemOf(`<r>${'t'.repeat(70_000)}`)).toBe('a tag or text is too long')
    expect(problemOf(`<r a="${'t'.repeat(70_000)}`)).toBe('a tag or text is too long')
    expect(problemOf(`<!-- ${'t'.repeat(70_000)}`)).toBe('a tag or text is too long')
  })
})
