import { describe, expect, test } from 'bun:test'
import { acceptLanguageCharactersMax, languageOf } from '../../../src/platform/http/language.ts'

describe('the language of texts for people', () => {
  test.each([
    ['pt', 'pt-BR'],
    ['pt-BR,pt;q=0.9,en;q=0.8', 'pt-BR'],
    ['PT-pt', 'pt-BR'],
    ['en;q=0.5, pt;q=0.501', 'pt-BR'],
    ['fr, pt;q=0.1', 'pt-BR'],
    ['pt, en', 'pt-BR'],
    ['en, pt', 'en'],
    ['pt;q=0.5, *', 'en'],
    ['pt;q=0.5, en;q=0, *', 'pt-BR'],
    ['pt;q=0', 'en'],
    ['*', 'en'],
    ['fr', 'en'],
    ['', 'en'],
    ['pt;q=2', 'en'],
    ['pt;q=1.0001', 'en'],
    ['pt;level=1', 'en'],
    ['ptt', 'en'],
    ['pt\u0000', 'en'],
  ])('%p is %s', (header, language) => {
    expect(languageOf(header)).toBe(language as 'en')
  })

  test('without the header it is English', () => {
    expect(languageOf(null)).toBe('en')
  })

  test('a header over its limit counts for nothing', () => {
    const padded = (length: number) => `pt${','.repeat(length - 2)}`
    expect(languageOf(padded(acceptLanguageCharactersMax))).toBe('pt-BR')
    expect(languageOf(padded(acceptLanguageCharactersMax + 1))).toBe('en')
  })
})
