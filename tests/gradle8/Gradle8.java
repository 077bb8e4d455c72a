import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.gradle.api.internal.StartParameterInternal;
import org.gradle.api.logging.LogLevel;
import org.gradle.api.logging.configuration.ConsoleOutput;
import org.gradle.api.logging.configuration.WarningMode;
import org.gradle.initialization.DefaultBuildCancellationToken;
import org.gradle.initialization.DefaultBuildRequestContext;
import org.gradle.initialization.DefaultBuildRequestMetaData;
import org.gradle.initialization.NoOpBuildEventConsumer;
import org.gradle.internal.buildoption.Option;
import org.gradle.internal.buildprocess.BuildProcessState;
import org.gradle.internal.classpath.ClassPath;
import org.gradle.internal.instrumentation.agent.AgentStatus;
import org.gradle.internal.logging.LoggingManagerInternal;
import org.gradle.internal.logging.services.DefaultLoggingManagerFactory;
import org.gradle.internal.logging.services.LoggingServiceRegistry;
import org.gradle.internal.nativeintegration.services.NativeServices;
import org.gradle.internal.service.ServiceRegistry;
import org.gradle.launcher.exec.BuildActionResult;
import org.gradle.launcher.exec.BuildExecutor;
import org.gradle.launcher.exec.DefaultBuildActionParameters;
import org.gradle.tooling.internal.provider.action.ExecuteBuildAction;

/** Runs a build in this folder by Gradle's own classes, as its launcher does, which is not among those on Maven Central. */
public final class Gradle8 {
    public static void main(String[] args) throws Exception {
        File user = new File(System.getProperty("gradle8.user"));
        File here = new File("").getAbsoluteFile();
        StartParameterInternal start = new StartParameterInternal();
        start.setGradleUserHomeDir(user);
        start.setGradleHomeDir(new File(System.getProperty("gradle8.home")));
        start.setCurrentDir(here);
        start.setConsoleOutput(ConsoleOutput.Plain);
        start.setWarningMode(WarningMode.All);
        start.addInitScript(new File(System.getProperty("gradle8.init")));
        Map<String, String> properties = new HashMap<>();
        Map<String, String> system = new HashMap<>();
        List<String> tasks = new ArrayList<>();
        for (String argument : args) {
            String[] sides = (argument.length() > 2 ? argument.substring(2) : "").split("=", 2);
            if (argument.equals("--configuration-cache")) {
                start.setConfigurationCache(Option.Value.value(true));
            } else if (argument.equals("--build-cache")) {
                start.setBuildCacheEnabled(true);
            } else if (argument.equals("--info")) {
                start.setLogLevel(LogLevel.INFO);
            } else if (argument.startsWith("-P")) {
                properties.put(sides[0], sides.length > 1 ? sides[1] : "");
            } else if (argument.startsWith("-D")) {
                system.put(sides[0], sides.length > 1 ? sides[1] : "");
                System.setProperty(sides[0], sides.length > 1 ? sides[1] : "");
            } else if (!argument.startsWith("--no-daemon") && !argument.startsWith("--console")) {
                tasks.add(argument);
            }
        }
        start.setProjectProperties(properties);
        start.setSystemPropertiesArgs(system);
        start.setTaskNames(tasks);
        ServiceRegistry logging = LoggingServiceRegistry.newCommandLineProcessLogging();
        NativeServices.initializeOnDaemon(user, NativeServices.NativeServicesMode.ENABLED);
        LoggingManagerInternal manager = logging.get(DefaultLoggingManagerFactory.class).getRoot();
        manager.setLevelInternal(start.getLogLevel());
        manager.start();
        boolean failed = true;
        try (BuildProcessState state = new BuildProcessState(false, AgentStatus.disabled(), ClassPath.EMPTY, logging,
                NativeServices.getInstance())) {
            BuildActionResult result = state.getServices().get(BuildExecutor.class).execute(new ExecuteBuildAction(start),
                    new DefaultBuildActionParameters(new HashMap<>(System.getProperties()), System.getenv(), here, start.getLogLevel(),
                            false, ClassPath.EMPTY),
                    new DefaultBuildRequestContext(new DefaultBuildRequestMetaData(System.currentTimeMillis(), false),
                            new DefaultBuildCancellationToken(), new NoOpBuildEventConsumer()));
            failed = result.hasFailure();
        } catch (Throwable e) {
            e.printStackTrace();
        } finally {
            System.out.flush();
            System.err.flush();
            // Threads of Gradle's may still wait for the next build.
            Runtime.getRuntime().halt(failed ? 1 : 0);
        }
    }
}
