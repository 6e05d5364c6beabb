import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './program.ts'

/** What is written for readers, as paths from the root: the front door first. */
export const pages: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
]

/** The README in other languages. */
export const translations: readonly string[] = ['README.pt-BR.md']
