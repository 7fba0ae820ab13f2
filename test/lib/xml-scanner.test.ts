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
  throw new Error('the document was accepted')
}

const DOCUMENT = `<?xml version="1.0"?><!-- <no> --><x:r a="1 > 0" b='"'><e a='&quot;&#65;&#x42;'/>t &amp; u<![CDATA[<&>]]><é
  a = "2"  ></é><!--->--></x:r>
`

describe('the XML scanner', () => {
  test('reports tags, attributes and text', () => {
    expect(scan(DOCUMENT)).toEqual(['<r 1 > 0>', '<e "AB>', '</e>', '"t & u<&>"', '<é 2>', '</é>', '</r>'])
  })

  test('reports the same events for chunks of any length', () => {
    const whole = scan(DOCUMENT)
    for (let length = 1; length < 40; length++) expect(scan(DOCUMENT, length)).toEqual(whole)
  })

  test('refuses document types and custom entities, so that nothing is expanded or fetched', () => {
    expect(problemOf('<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>')).toBe('document types are not supported')
    expect(problemOf('<r>&lol;</r>')).toBe('unsupported entity &lol;')
    expect(problemOf('<r>&#0;</r>')).toBe('unsupported entity &#0;')
    expect(problemOf('<r>&#x110000;</r>')).toBe('unsupported entity &#x110000;')
  })

  test('refuses a truncated document and elements that are not a tree', () => {
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

  test('refuses a tag with a malformed attribute, and ignores attributes inside a value', () => {
    for (const tag of ['<r b>', '<r b c="1">', '<r b=1>', '<r b="1"c="2">', '<r b = >', '<r / >', '<r ="1">']) {
      expect(problemOf(`${tag}</r>`)).toBe('malformed attribute')
    }
    expect(scan(`<r b=' a="1"'></r>`)).toEqual(['<r>', '</r>'])
    expect(scan(`<r\tb="1"\n/>   `)).toEqual(['<r>', '</r>'])
  })

  test.each(['<r a="LONG"></r>', '<r>LONG</r>', '<r>LONG', '<r a="LONG', '<!-- LONG'])(
    'refuses a long token: %s',
    (xml) => {
      expect(problemOf(xml.replace('LONG', 't'.repeat(70_000)))).toBe('a tag or text is too long')
    },
  )
})
