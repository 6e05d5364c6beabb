import { type Contender, full, smoke } from './harness.ts'
import { calibrate, ownCpuUs } from './rounds.ts'
import { suites } from './suites/index.ts'
import { noContenderCode, type ReadyMessage, type RoundResult } from './worker-process.ts'

const [suiteName, groupName, contenderName, roundMsText] = process.argv.slice(2)
const roundMs = Number(roundMsText)

const findContender = async (): Promise<Contender> => {
  const suite = await suites[suiteName ?? '']?.()
  const groups = (await suite?.groups(roundMs === smoke.roundMs ? smoke : full)) ?? []
  const group = groups.find(({ name }) => name === groupName)
  const contender = group?.contenders.find(({ name }) => name === contenderName)
  if (contender === undefined) {
    console.error(`no contender ${contenderName}`)
    process.exit(noContenderCode)
  }
  return contender
}

const contender = await findContender()
const times = await calibrate(contender, roundMs)
const ready: ReadyMessage = {
  checksum: String(await contender.run(times)),
  single: String(await contender.run(1)),
}

process.on('message', async () => {
  const before = ownCpuUs()
  const checksum = String(await contender.run(times))
  const result: RoundResult = { cpuUs: (ownCpuUs() - before) / times, checksum }
  process.send?.(result)
})
process.send?.(ready)
