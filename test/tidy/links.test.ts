import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { pages, translations } from '../support/pages.ts'
import { root } from '../support/program.ts'

/** Without code, in which brackets and hashes mean nothing. */
const proseOf = (page: string): string =>
  readFileSync(join(root, page), 'utf8')
    .replace(/^```[^\n]*\n[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()#]/g, ''))

/** A heading's anchor as the forges make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

const anchorsOf = (page: string): readonly string[] =>
  [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

type Link = { readonly file: string; readonly anchor: string | undefined }

/** The links of a page into this repository. */
const linksOf = (page: string): readonly Link[] =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#')
      return { file: path === '' ? page : normalize(join(dirname(page), path)), anchor }
    })

test.each([...pages, ...translations])('every link of %s leads somewhere', (page) => {
  const broken = linksOf(page).filter(
    ({ file, anchor }) =>
      !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor)),
  )
  expect(broken).toEqual([])
})

test('no two headings of a page have the same anchor', () => {
  for (const page of pages) {
    const anchors = anchorsOf(page)
    expect(anchors).toEqual([...new Set(anchors)])
  }
})

test('the README leads to every page', () => {
  const reached = linksOf('README.md').map(({ file }) => file)
  expect(pages.filter((page) => page !== 'README.md' && !reached.includes(page))).toEqual([])
})
