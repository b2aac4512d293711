import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** An application of YARN: App FILE CLASS SECONDS CONTAINERS asks for containers, and writes what it saw into a file. */
public class App {
    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        long end = System.currentTimeMillis() + 1000 * Long.parseLong(args[2]);
        AMRMClient<ContainerRequest> yarn = AMRMClient.createAMRMClient();
        yarn.init(new YarnConfiguration());
        yarn.start();
        yarn.registerApplicationMaster("", 0, "");
        note(file, "start " + args[1]);
        for (int i = 0; i < Integer.parseInt(args[3]); i++) {
            yarn.addContainerRequest(new ContainerRequest(Resource.newInstance(1024, 1), null, null, Priority.newInstance(1)));
        }
        int held = 0;
        while (System.currentTimeMillis() < end) {
            int more = yarn.allocate(0.5f).getAllocatedContainers().size();
            held += more;
            if (more > 0) {
                note(file, "holds " + args[1] + " " + held);
            }
            Thread.sleep(200);
        }
        note(file, "end " + args[1]);
        yarn.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", "");
    }

    static void note(Path file, String text) throws Exception {
        String line = System.currentTimeMillis() + " " + ProcessHandle.current().pid() + " " + text + "\n";
        Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
