import { JobFailed, Unanswered } from "./errors.js";
import type { Job, Pressroom } from "./generated.js";
import type { Answer } from "./runtime.js";

const askFor = 20; // seconds that the service holds a question about a job
const firstPause = 200;
const longestPause = 5_000;

export interface WaitOptions {
  signal?: AbortSignal;
}

/**
 * Waits until a job has ended. One that failed, wholly or in part, rejects with a JobFailed, whose job tells what did succeed; a signal that
 * gives the waiting up, with an Unanswered: the job goes on by itself.
 */
export async function wait(client: Pressroom, jobId: string, options: WaitOptions = {}): Promise<Answer<Job>> {
  const seconds = Math.min(askFor, Math.floor(client.attemptTimeout / 2000)); // the answer has to come well before the attempt ends
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    const asked = Date.now();
    const answer = await client.getJob({ job_id: jobId, wait_seconds: seconds }, options);
    const job = answer.data;
    if (job.finished) {
      if (job.state === "failed" || job.state === "partially_succeeded") throw new JobFailed(job);
      return answer;
    }
    if (seconds > 0 && Date.now() - asked > seconds * 500) pause = firstPause;
    try {
      await client.policy.sleep(pause / 2 + Math.random() * (pause / 2), options.signal);
    } catch (error) {
      throw new Unanswered("get_job", undefined, 1, options.signal?.reason ?? error);
    }
  }
}
