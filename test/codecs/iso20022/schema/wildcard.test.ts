import { describe, expect, test } from 'bun:test'
import { admits, described, type Wildcard } from '../../../../codecs/iso20022/schema/wildcard.ts'

const wildcard = (namespaces: Wildcard['namespaces']): Wildcard => ({
  namespaces,
  processContents: 'lax',
})

/** XML Schema 1.0 part 1, 3.10.4: what the namespace constraint of xs:any allows. */
describe('xs:any', () => {
  test.each([
    [wildcard({ kind: 'any' }), 'urn:a', true],
    [wildcard({ kind: 'any' }), '', true],
    [wildcard({ kind: 'not', namespace: 'urn:own' }), 'urn:a', true],
    [wildcard({ kind: 'not', namespace: 'urn:own' }), 'urn:own', false],
    [wildcard({ kind: 'not', namespace: 'urn:own' }), '', false],
    [wildcard({ kind: 'list', namespaces: ['urn:a', ''] }), 'urn:a', true],
    [wildcard({ kind: 'list', namespaces: ['urn:a', ''] }), '', true],
    [wildcard({ kind: 'list', namespaces: ['urn:a', ''] }), 'urn:b', false],
  ])('%j and "%s": %p', (one, uri, expected) => {
    expect(admits(one, uri)).toBe(expected)
  })

  test('says what it expects', () => {
    expect(described(wildcard({ kind: 'any' }))).toBe('any element')
    expect(described(wildcard({ kind: 'not', namespace: 'urn:own' }))).toContain(
      'other than urn:own',
    )
    expect(described(wildcard({ kind: 'list', namespaces: ['urn:a', 'urn:b'] }))).toBe(
      'an element of urn:a or urn:b',
    )
  })
})
