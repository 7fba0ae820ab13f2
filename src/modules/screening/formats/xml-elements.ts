// Reads XML lists one entry at a time, without keeping other elements.
import { createXmlScanner } from '../../../lib/xml-scanner.ts'
import type { ListedEntry } from '../matching/entry.ts'
import { ScreeningListInvalidError } from './csv-rows.ts'

export interface XmlElement {
  readonly name: string
  readonly attribute: (name: string) => string
  readonly children: readonly XmlElement[]
  /** Text of this element, without its children. */
  readonly text: string
}

interface OpenElement extends XmlElement {
  readonly children: XmlElement[]
  text: string
}

export interface XmlList {
  /** List title for error messages. */
  readonly title: string
  readonly root: string
  readonly entries: readonly string[]
  readonly entryOf: (element: XmlElement) => ListedEntry
}

/** Returns the descendants with this name, at any depth. */
export const elementsOf = (element: XmlElement, name: string): readonly XmlElement[] =>
  element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...elementsOf(child, name)])

/** Returns the texts of all descendants at the path. */
export const textsAt = (element: XmlElement, ...path: readonly string[]): readonly string[] =>
  path
    .reduce<readonly XmlElement[]>((found, name) => found.flatMap((each) => elementsOf(each, name)), [element])
    .map(({ text }) => text.trim())

export const joinName = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')

/** Returns the text of the first child with this name; empty if there is none. */
export const childText = (element: XmlElement, name: string): string =>
  element.children.find((child) => child.name === name)?.text.trim() ?? ''

/** @throws ScreeningListInvalidError, XmlInvalidError */
export const readXmlEntries = (text: string, list: XmlList): readonly ListedEntry[] => {
  const entries: ListedEntry[] = []
  const open: OpenElement[] = []
  let isFirst = true
  const scanner = createXmlScanner({
    open: (name, attribute) => {
      if (isFirst && name !== list.root) throw new ScreeningListInvalidError(`the file is not ${list.title}`)
      isFirst = false
      if (open.length === 0 && !list.entries.includes(name)) return
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
      if (parent === undefined) entries.push(list.entryOf(closed))
      else parent.children.push(closed)
    },
  })
  scanner.write(text)
  scanner.end()
  return entries
}
