import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Tests that start whole programs, slowest first. Each file gets a process of its own and begins early, so that at the
 * end only short work is left to share out.
 */
const slowFolders = ['test/faults', 'test/e2e', 'test/readme', 'test/drex', 'test/cards']

const groupFilesMax = 16

/** Distributes test files over processes: a group runs in one process, and groups start in this order. */
export const groupsOf = (
  root: string,
  files: readonly string[],
): readonly (readonly string[])[] => {
  const usesKafka = (file: string): boolean =>
    file.includes('/kafka/') || readFileSync(join(root, file), 'utf8').includes('support/kafka.ts')
  // They share one Kafka, which takes seconds to start and memory to run; it is fetched once, too.
  const kafka = files.filter(usesKafka)
  const others = files.filter((file) => !kafka.includes(file))
  const slow = slowFolders.flatMap((folder) =>
    others.filter((file) => file.startsWith(`${folder}/`)),
  )
  const quick = others.filter((file) => !slow.includes(file))
  return [kafka, ...slow.map((file) => [file]), ...inFolders(quick)].filter(
    (group) => group.length > 0,
  )
}

/** Neighbours import much of the same, which one process loads once. */
const inFolders = (files: readonly string[]): readonly (readonly string[])[] => {
  const groups: string[][] = []
  for (const file of files) {
    const last = groups.at(-1)
    if (last === undefined || last.length === groupFilesMax) groups.push([file])
    else last.push(file)
  }
  return groups
}
