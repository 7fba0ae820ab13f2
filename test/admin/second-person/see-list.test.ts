// Which changes of lists need a second person, for every kind of list and of change.
import { expect, test } from 'bun:test'
import { needsForEdit, needsForUpload } from '../../../src/admin/second-person/see-list.ts'

const ADDRESS = { address: '0x1111111111111111111111111111111111111111' }
const OWNERS = ['organization_1', null]
const NAMES = ['allow', 'deny', 'other']

test('a change is made at once only if it adds to an organization’s deny list, or removes from its allow list', () => {
  for (const owner of OWNERS) {
    for (const name of NAMES) {
      for (const [adds, removes] of [
        [true, false],
        [false, true],
        [true, true],
      ]) {
        const edit = { add: adds ? [ADDRESS] : [], remove: removes ? [ADDRESS.address] : [] }
        const loosens = name === 'deny' ? removes : name === 'allow' ? adds : true
        const expected = owner !== null && !loosens ? 'nothing' : 'second-person'
        expect([owner, name, edit, needsForEdit(name, owner, edit)]).toEqual([owner, name, edit, expected])
      }
      for (const merge of [true, false]) {
        const expected = owner !== null && name === 'deny' && merge ? 'nothing' : 'second-person'
        expect([owner, name, merge, needsForUpload(name, owner, merge)]).toEqual([owner, name, merge, expected])
      }
    }
  }
})
