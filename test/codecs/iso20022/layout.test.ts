import { describe, expect, test } from 'bun:test'
import { layout } from '../../../codecs/iso20022/layout.ts'

describe('a layout', () => {
  const found = layout('PmtId(InstrId? EndToEndId) Dbtr(Nm? Id/PrvtId/Othr/Id) Tax* Purp?/Cd')

  test('numbers the items beneath one parent one after the other', () => {
    const item = found.at('PmtId')
    expect(found.names.slice(found.first[item], found.end[item])).toEqual(['InstrId', 'EndToEndId'])
    expect(found.names.slice(found.first[0], found.end[0])).toEqual([
      'PmtId',
      'Dbtr',
      'Tax',
      'Purp',
    ])
  })

  test.each([
    ['PmtId', 1, 0],
    ['PmtId/InstrId', 0, 0],
    ['Tax', 0, 1],
    ['Purp', 0, 0],
    ['Purp/Cd', 1, 0],
  ])('%s: required %p, repeated %p', (path, required, repeated) => {
    expect(found.required[found.at(path)]).toBe(required)
    expect(found.repeated[found.at(path)]).toBe(repeated)
  })

  test('reports a chain that breaks down to its end', () => {
    expect(found.chains[found.at('Dbtr/Id')]).toBe('Id/PrvtId/Othr/Id')
    expect(found.chains[found.at('Dbtr')]).toBe('Dbtr')
  })

  test.each(['PmtId(EndToEndId', 'PmtId)', 'NoSuchElement'])('%s is a mistake of ours', (text) => {
    expect(() => layout(text)).toThrow()
  })

  test('so is a path that is not in it', () => {
    expect(() => found.at('Dbtr/Cd')).toThrow('Dbtr/Cd')
  })
})
