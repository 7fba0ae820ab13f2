// Extracts the elements that a list format needs from XML. Each is passed on when it closes; others are skipped.
import { createXmlScanner } from '../../../lib/xml-scanner.ts'

export interface XmlElement {
  readonly name: string
  readonly attribute: (name: string) => string
  readonly children: readonly XmlElement[]
  /** Text of this element, without its children. */
  readonly text: string
}

interface OpenElement {
  readonly name: string
  readonly attribute: (name: string) => string
  readonly children: XmlElement[]
  text: string
}

/** Returns descendants with this name, at any depth. */
export const elementsOf = (element: XmlElement, name: string): readonly XmlElement[] =>
  element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...elementsOf(child, name)])

/** Returns the text of the first child with this name; empty if there is none. */
export const childText = (element: XmlElement, name: string): string =>
  element.children.find((child) => child.name === name)?.text.trim() ?? ''

/** @param wanted Names of the elements to pass on @throws XmlInvalidError */
export const readXmlElements = (
  text: string,
  wanted: ReadonlySet<string>,
  onRoot: (name: string) => void,
  onElement: (element: XmlElement) => void,
): void => {
  const open: OpenElement[] = []
  let isFirst = true
  const scanner = createXmlScanner({
    open: (name, attribute) => {
      if (isFirst) onRoot(name)
      isFirst = false
      if (open.length === 0 && !wanted.has(name)) return
      open.push({ name, attribute: (key) => attribute(key) ?? '', children: [], text: '' })
    },
    text: (piece) => {
      const current = open.at(-1)
      if (current !== undefined) current.text += piece
    },
    close: (name) => {
      const closed = open.at(-1)
      if (closed === undefined || closed.name !== name) return
      open.pop()
      const parent = open.at(-1)
      if (parent === undefined) onElement(closed)
      else parent.children.push(closed)
    },
  })
  const SLICE = 65_536
  for (let at = 0; at < text.length; at += SLICE) scanner.write(text.slice(at, at + SLICE))
  scanner.end()
}
