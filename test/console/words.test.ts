import { expect, test } from 'bun:test'
import { Glob } from 'bun'

/** Whether files read a word: by its name, or as a text in a file that looks words up. */
const areReading = (files: readonly string[], list: string, word: string): boolean => {
  const users = files.filter((file) => new RegExp(String.raw`\b${list}\b`).test(file))
  const namesIn = (file: string): readonly string[] => {
    const renamed = new RegExp(String.raw`\b${list} as (\w+)|\bconst (\w+) = ${list}\b`, 'g')
    return [list, ...[...file.matchAll(renamed)].map(([, one, other]) => one ?? other ?? '')]
  }
  const hasAny = (after: string): boolean =>
    users.some((file) =>
      namesIn(file).some((name) => new RegExp(String.raw`\b${name}${after}`).test(file)),
    )
  const text = `'${word.replace(/Consequence$/, '')}'`
  return (
    hasAny(String.raw`\.${word}\b`) ||
    (hasAny(String.raw`\[`) && users.some((file) => file.includes(text)))
  )
}

test('every word of the console is said somewhere', async () => {
  const folder = `${import.meta.dir}/../../src/console/browser/`
  const paths = [...new Glob('*.{ts,tsx}').scanSync(folder)]
  const files = await Promise.all(paths.map((path) => Bun.file(folder + path).text()))
  const lists = files.flatMap((file) => [
    ...file.matchAll(/^(?:export )?const (\w+) = inWords\(\{\n(.*?)\n\}\)/gms),
  ])
  const unread = lists.flatMap(([whole, list = '', words = '']) => {
    const rest = files.map((file) => file.replace(whole, ''))
    return [...words.matchAll(/^ {2}(\w+): \[/gm)]
      .filter(([, word = '']) => !areReading(rest, list, word))
      .map(([, word]) => `${list}.${word}`)
  })
  expect(lists.length).toBeGreaterThan(10)
  expect(unread).toEqual([])
})
