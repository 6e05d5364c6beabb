import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import bunfig from '../../bunfig.toml'
import { pages } from '../support/pages.ts'
import { root } from '../support/program.ts'

const linesMax = 450
const testLinesMax = 700

const filesIn = (folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => `${folder}/${name}`)
        .filter((name) => /\.tsx?$/.test(name) && !name.includes('/generated/'))
        .sort()
    : []

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const program = [...filesIn('src'), ...filesIn('codecs')]
const everything = [...program, ...filesIn('test'), ...filesIn('bench'), ...filesIn('scripts')]

/** Every specifier of a file, types included, which the transpiler would drop. */
const specifiersOf = (file: string): string[] =>
  [...read(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, found]) => found ?? '')

/** The file of ours that a specifier means, as a path from the root. */
const resolve = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith('#codecs/')) return `codecs/${specifier.slice(8)}/index.ts`
  if (specifier.startsWith('#src/')) return `src/${specifier.slice(5)}`
  if (specifier.startsWith('.')) return relative(root, join(root, dirname(file), specifier))
  return undefined
}

const importsOf = (file: string): string[] =>
  specifiersOf(file).flatMap((specifier) => resolve(file, specifier) ?? [])

/** The names of the files for which the rule does not hold. */
const offenders = (files: readonly string[], breaks: (file: string) => boolean): string[] =>
  files.filter(breaks)

describe('every source file', () => {
  test(`has at most ${linesMax} lines, a test ${testLinesMax}`, () => {
    const limit = (file: string) => (file.startsWith('test/') ? testLinesMax : linesMax)
    const lines = (file: string) => read(file).trimEnd().split('\n').length
    expect(offenders(everything, (file) => lines(file) > limit(file))).toEqual([])
  })

  test('of a codec imports none that imports it again, not even a type', () => {
    const circles: string[] = []
    const done = new Set<string>()
    const visit = (file: string, above: readonly string[]): void => {
      if (above.includes(file))
        circles.push([...above.slice(above.indexOf(file)), file].join(' → '))
      if (done.has(file) || above.includes(file)) return
      for (const next of importsOf(file)) visit(next, [...above, file])
      done.add(file)
    }
    for (const file of filesIn('codecs')) visit(file, [])
    expect(circles).toEqual([])
  })

  test('is imported by another', () => {
    const imported = new Set(everything.flatMap(importsOf))
    // Tables are read by the migration generator.
    const roots = /\/main\.tsx?$|\.d\.ts$|worker|schema\.ts$/
    expect(offenders(program, (file) => !imported.has(file) && !roots.test(file))).toEqual([])
  })

  test('loads on its own', async () => {
    const entries = program.filter(
      (file) => file !== 'src/main.ts' && !/\.d\.ts$|worker|\/browser\//.test(file),
    )
    for (const file of entries) await import(join(root, file))
    expect(entries.length).toBeGreaterThan(20)
  })

  test('declares functions at the top level as arrows, unless they cannot be', () => {
    const declared = /^(?:export )?(?:async )?function (\w+)([^{]*)/gm
    const offends = (file: string) => {
      const found = [...read(file).matchAll(declared)]
      const isOverload = (name: string | undefined) =>
        found.filter(([, other]) => other === name).length > 1
      return found.some(
        ([, name, signature = '']) =>
          !/\): (never|asserts )|\bthis: /.test(signature) && !isOverload(name),
      )
    }
    expect(offenders(everything, offends)).toEqual([])
  })

  test('says in a comment who does what: none begins with of or whom', () => {
    const form = /(?:\/\*\*(?:\s*\*)?|\/\/) (?:Of|Whom) /
    expect(offenders(program, (file) => form.test(read(file)))).toEqual([])
  })

  test('names the members of an object one by one, none within a spread of a literal', () => {
    const form = /^\s*\.\.\.\{(?: .* \},?)?$/m
    expect(offenders(everything, (file) => form.test(read(file)))).toEqual([])
  })

  test('is finished', () => {
    const unfinished = new RegExp(['\\b(TO', 'DO|FIX', 'ME|X', 'XX)\\b'].join(''))
    expect(offenders(everything, (file) => unfinished.test(read(file)))).toEqual([])
  })

  test('knows nothing of where it was written', () => {
    const words = new RegExp(
      [
        `/wor${'k'}/`,
        `worktre${'e'}`,
        `brief\\.m${'d'}`,
        `issue${'s'} show`,
        'helpe' + 'r session',
      ].join('|'),
      'i',
    )
    const texts = [...everything, ...pages, 'package.json', 'biome.json', '.ci/run', 'bun.lock']
    expect(offenders(texts, (file) => words.test(read(file)))).toEqual([])
  })
})

describe('the layers', () => {
  const layerOf = (file: string): string => file.split('/').slice(0, 2).join('/')
  const features = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && !['platform', 'cli', 'composition'].includes(entry.name),
    )
    .map((entry) => entry.name)

  test('codecs use only codecs, and of each other only the index', () => {
    const broken = filesIn('codecs').flatMap((file) =>
      importsOf(file)
        .filter(
          (target) =>
            !target.startsWith('codecs/') ||
            (layerOf(target) !== layerOf(file) && target.split('/').length > 3),
        )
        .map((target) => `${file} imports ${target}`),
    )
    expect(broken).toEqual([])
  })

  test('codecs have no clock, environment, randomness, I/O or log', () => {
    const impure =
      /\b(?:process\.|Bun\.|Date\.now|new Date\(\)|Math\.random|crypto\.|fetch\(|setTimeout|console\.)/
    const broken = offenders(filesIn('codecs'), (file) => impure.test(withoutComments(read(file))))
    expect(broken).toEqual([])
  })

  test('the platform knows no feature, and features know each other’s events only', () => {
    const broken = program
      .filter(
        (file) =>
          file.startsWith('src/') && !/^src\/(main\.ts|events\/|cli\/|composition\/)/.test(file),
      )
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => target.startsWith('src/'))
          .filter((target) => layerOf(target) !== layerOf(file))
          .filter((target) => layerOf(target) !== 'src/platform')
          .filter((target) => target !== 'src/events/index.ts' || layerOf(file) === 'src/platform')
          .map((target) => `${file} imports ${target}`),
      )
    expect(broken).toEqual([])
  })

  test('domain files import only codecs, days and their own types; routes never reach the store', () => {
    const featureFiles = features.flatMap((feature) => filesIn(`src/${feature}`))
    const broken = featureFiles.flatMap((file) => {
      const forbidden = file.endsWith('/domain.ts')
        ? /^src\/platform\/(?!runtime\/days\.ts$)|\/(store|service|routes|schema)\.ts$/
        : /\/routes\.ts$/.test(file)
          ? /\/(store|schema)\.ts$/
          : /^$/
      return importsOf(file)
        .filter((target) => forbidden.test(target))
        .map((target) => `${file} imports ${target}`)
    })
    expect(broken).toEqual([])
  })

  test('tables are declared in schema.ts only', () => {
    const broken = offenders(
      program,
      (file) => /\bpgTable\(|\.createTable\(/.test(read(file)) && !/schema(\.ts|\/)/.test(file),
    )
    expect(broken).toEqual([])
  })

  test('no answer is inflated by the runtime, which sets no limit, but those of this very process', () => {
    const own = /^src\/(cli\/ready|platform\/lifecycle\/demo)\.ts$|^src\/console\/browser\//
    const broken = offenders(
      filesIn('src').filter((file) => !own.test(file)),
      (file) =>
        /(?:await|return|=>)\s+fetch\(/.test(read(file)) && !/decompress: false/.test(read(file)),
    )
    expect(broken).toEqual([])
  })

  test('ids of a moment come from one place, which lets them go back with the clock', () => {
    const broken = offenders(
      filesIn('src').filter((file) => file !== 'src/platform/runtime/uuids.ts'),
      (file) => /randomUUIDv7/.test(read(file)),
    )
    expect(broken).toEqual([])
  })

  test('only the entry reads settings from the environment', () => {
    const broken = offenders(
      program,
      (file) =>
        file !== 'src/main.ts' &&
        // Not a setting of ours: the proxies that the runtime follows.
        file !== 'src/platform/lifecycle/proxied.ts' &&
        /process\.env\b(?!\['PATH'\])|Bun\.env\b/.test(withoutComments(read(file))),
    )
    expect(broken).toEqual([])
  })
})

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')

test('what coverage leaves out is there', () => {
  const patterns: readonly string[] = bunfig.test.coveragePathIgnorePatterns
  const isThere = (pattern: string): boolean => {
    const glob = new Bun.Glob(pattern)
    return everything.some((file) => glob.match(file))
  }
  expect(patterns.filter((pattern) => !isThere(pattern))).toEqual([])
})

test('recursive schemas have names, without which the OpenAPI document cannot be written', () => {
  expect(
    offenders(filesIn('src'), (file) => /\bz\.json\(\)/.test(withoutComments(read(file)))),
  ).toEqual([])
})
