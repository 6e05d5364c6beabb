/** The peers of JavaScript in Node, where they are faster: a line tells how much to do, as for any `programPeer`. */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { saxesElements } from '../saxes-elements.ts'
import { pixUtilsWeight } from './pix-utils.ts'

const works: Readonly<Record<string, (document: Buffer) => number>> = {
  saxes: saxesElements,
  'pix-utils': (document) => pixUtilsWeight(document.toString()),
}

const [, , name = '', file = ''] = process.argv
const work = works[name]
if (work === undefined) throw new Error(`no peer ${name}`)

const documents: Buffer[] = []
for (let rest = readFileSync(file); rest.length > 0; ) {
  const end = 4 + rest.readUInt32BE()
  documents.push(rest.subarray(4, end))
  rest = rest.subarray(end)
}

for await (const line of createInterface({ input: process.stdin })) {
  let sum = 0
  for (let i = 0; i < Number(line); i++) sum += work(documents[i % documents.length] as Buffer)
  const { user, system } = process.cpuUsage()
  process.stdout.write(`${sum} ${user + system}\n`)
}
